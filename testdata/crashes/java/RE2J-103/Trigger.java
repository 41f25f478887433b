import com.google.re2j.Pattern;

/** An escape of a hexadecimal digit that is none: https://github.com/google/re2j/issues/103 */
public class Trigger {
    public static void main(String[] args) throws Throwable {
        Pattern.compile("\\xv");
    }
}
