import org.codehaus.jettison.json.JSONObject;

/** An object that ends in a slash: https://github.com/jettison-json/jettison/issues/47 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        new JSONObject("{/");
    }
}
