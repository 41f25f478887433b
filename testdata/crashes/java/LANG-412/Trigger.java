import org.apache.commons.lang.text.StrBuilder;

/** StrBuilder.appendFixedWidthPadLeft does not know null: https://issues.apache.org/jira/browse/LANG-412 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        new StrBuilder().appendFixedWidthPadLeft(null, 10, '-');
    }
}
