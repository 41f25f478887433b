import org.apache.commons.lang.math.NumberUtils;

/** NumberUtils.createNumber on text with e and E: https://issues.apache.org/jira/browse/LANG-457 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        NumberUtils.createNumber("1eE");
    }
}
