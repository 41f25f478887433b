import com.google.re2j.Pattern;

/** Alternatives that share dots: https://github.com/google/re2j/issues/148 */
public class Trigger {
    public static void main(String[] args) throws Throwable {
        Pattern.compile("..|.#|..");
    }
}
