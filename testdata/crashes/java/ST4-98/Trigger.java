import org.stringtemplate.v4.ST;

/** A template is copied twice and given an attribute: https://github.com/antlr/stringtemplate4/issues/98 */
public class Trigger {
    public static void main(String[] args) throws Throwable {
        ST st1 = new ST("$key$", '$', '$');
        st1.add("toto", "tata");
        ST st2 = new ST(st1);
        st2.add("key", "value2");
        ST st3 = new ST(st1);
        st3.add("key", "value3");
    }
}
