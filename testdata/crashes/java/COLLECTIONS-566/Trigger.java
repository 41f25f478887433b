import org.apache.commons.collections4.IteratorUtils;
import java.util.*;

/** IteratorUtils.collatedIterator without a comparator: https://issues.apache.org/jira/browse/COLLECTIONS-566 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        Iterator<Integer> all = IteratorUtils.collatedIterator(null, Arrays.asList(1, 3).iterator(), Arrays.asList(2).iterator());
        all.next();
    }
}
