import com.thoughtworks.xstream.XStream;
import java.util.concurrent.atomic.AtomicReference;

/** An AtomicReference to nothing: https://github.com/x-stream/xstream/issues/326 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        new XStream().toXML(new AtomicReference<Object>());
    }
}
