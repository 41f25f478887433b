import org.apache.commons.lang.text.StrBuilder;

/** StrBuilder.deleteAll reads past the end of its text: https://issues.apache.org/jira/browse/LANG-294 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        StrBuilder builder = new StrBuilder("\n== head\nsome words\nmore words\n== head\n");
        builder.deleteAll("\n== head");
    }
}
