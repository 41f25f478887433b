import org.commonmark.parser.Parser;

/** A link that is not closed: https://github.com/commonmark/commonmark-java/issues/27 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        Parser.builder().build().parse("[example.com](http:\\\\example.com");
    }
}
