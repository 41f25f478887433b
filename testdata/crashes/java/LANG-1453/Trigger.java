import org.apache.commons.lang3.StringUtils;

/** removeIgnoreCase where lower case is longer: https://issues.apache.org/jira/browse/LANG-1453 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        StringUtils.removeIgnoreCase("\u0130a", "a");
    }
}
