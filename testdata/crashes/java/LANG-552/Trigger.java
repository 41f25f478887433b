import org.apache.commons.lang.StringUtils;

/** StringUtils.replaceEach with null among the replacements: https://issues.apache.org/jira/browse/LANG-552 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        StringUtils.replaceEach("aba", new String[] {"a", "b"}, new String[] {"c", null});
    }
}
