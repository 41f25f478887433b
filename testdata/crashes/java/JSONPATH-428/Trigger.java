import com.jayway.jsonpath.JsonPath;

/** A property in brackets that is not closed: https://github.com/json-path/JsonPath/issues/428 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        JsonPath.compile("$['boo','foo][?(@ =~ /bar/)]");
    }
}
