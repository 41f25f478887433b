import org.jsoup.Jsoup;

/** Links within links: https://github.com/jhy/jsoup/issues/1608 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        Jsoup.parse("<a>\n    <b>\n        <div>\n            <a>test</a>\n        </div>\n    </b>\n</a>");
    }
}
