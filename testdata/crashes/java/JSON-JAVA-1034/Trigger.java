import org.json.JSONML;

/** JSONML.toJSONArray of a closing tag: https://github.com/stleary/JSON-java/issues/1034 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        JSONML.toJSONArray("<\n/ab>B");
    }
}
