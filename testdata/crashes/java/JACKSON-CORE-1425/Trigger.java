import com.fasterxml.jackson.core.JsonPointer;

/** JsonPointer.head of a head: https://github.com/FasterXML/jackson-core/issues/1425 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        JsonPointer.compile("/a/b/0/qwerty").head().head();
    }
}
