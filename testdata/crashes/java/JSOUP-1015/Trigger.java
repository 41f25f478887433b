import org.jsoup.Jsoup;
import org.jsoup.parser.Parser;

/** An XML declaration that is not closed: https://github.com/jhy/jsoup/issues/1015 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        Jsoup.parse("<?xml version='1.0'><val>One</val>", "", Parser.xmlParser());
    }
}
