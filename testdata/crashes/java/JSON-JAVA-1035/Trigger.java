import org.json.XML;

/** An entity without a number: https://github.com/stleary/JSON-java/issues/1035 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        XML.toJSONObject("<a>&#;</a>");
    }
}
