import org.jsoup.nodes.Document;
import org.jsoup.parser.Parser;
import java.nio.charset.StandardCharsets;

/** charset of an XML document without children: https://github.com/jhy/jsoup/issues/2266 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        Document xml = new Document(Parser.NamespaceXml, "https://example.com");
        xml.outputSettings().syntax(Document.OutputSettings.Syntax.xml);
        xml.charset(StandardCharsets.UTF_8);
    }
}
