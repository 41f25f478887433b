import org.apache.commons.collections4.list.SetUniqueList;
import java.util.*;

/** SetUniqueList.add of the list itself: https://issues.apache.org/jira/browse/COLLECTIONS-701 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        SetUniqueList<Object> list = SetUniqueList.setUniqueList(new LinkedList<Object>());
        list.add(list);
    }
}
