import com.fasterxml.jackson.core.JsonPointer;

/** A pointer to a name that begins like a number: https://github.com/FasterXML/jackson-core/issues/173 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        JsonPointer.compile("/1e0");
    }
}
