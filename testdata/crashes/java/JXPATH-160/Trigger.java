import org.apache.commons.jxpath.util.ValueUtils;
import java.util.*;

/** ValueUtils.getValue of a set beyond its size: https://issues.apache.org/jira/browse/JXPATH-160 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        ValueUtils.getValue(new HashSet<Object>(Arrays.asList("a", "b")), 3);
    }
}
