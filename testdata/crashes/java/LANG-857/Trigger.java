import org.apache.commons.lang3.StringEscapeUtils;

/** escapeCsv of a character beyond the basic plane: https://issues.apache.org/jira/browse/LANG-857 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        StringEscapeUtils.escapeCsv("\uD83D\uDE30");
    }
}
