import org.apache.commons.jxpath.JXPathContext;
import javax.xml.parsers.DocumentBuilderFactory;

/** A step below a document without children: https://issues.apache.org/jira/browse/JXPATH-113 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        org.w3c.dom.Document document = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new org.xml.sax.InputSource(new java.io.StringReader("<xml/>")));
        JXPathContext.newContext(document).selectNodes("//following-sibling::node()");
    }
}
