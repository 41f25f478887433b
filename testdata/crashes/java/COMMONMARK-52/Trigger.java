import org.commonmark.parser.Parser;

/** A list followed by indented code: https://github.com/commonmark/commonmark-java/issues/52 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        Parser.builder().build().parse("## Do this\n- cd to foo\n\n\tgit clone https://...\n\n## Next\n");
    }
}
