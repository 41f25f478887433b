import org.json.JSONArray;

/** An array that is only opened: https://github.com/stleary/JSON-java/issues/372 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        new JSONArray("[");
    }
}
