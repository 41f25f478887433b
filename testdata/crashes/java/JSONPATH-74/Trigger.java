import com.jayway.jsonpath.JsonPath;

/** A path that ends in a dot: https://github.com/json-path/JsonPath/pull/74 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        JsonPath.compile("$.");
    }
}
