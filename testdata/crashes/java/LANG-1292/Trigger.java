import org.apache.commons.lang3.text.WordUtils;

/** WordUtils.wrap of words that fill most of a line: https://issues.apache.org/jira/browse/LANG-1292 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        String word = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ";
        WordUtils.wrap(word + word + "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 70);
    }
}
