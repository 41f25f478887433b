import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.dataformat.xml.*;
import com.fasterxml.jackson.dataformat.xml.deser.FromXmlParser;
import java.util.*;

/** An empty element as a list: https://github.com/FasterXML/jackson-dataformat-xml/issues/435 */
public class Trigger {
    public static void main(String[] args) throws Throwable {
        XmlMapper m = new XmlMapper();
        m.enable(FromXmlParser.Feature.EMPTY_ELEMENT_AS_NULL);
        List<Object> l = m.readValue("<ArrayList/>", new TypeReference<List<Object>>() { });
    }
}
