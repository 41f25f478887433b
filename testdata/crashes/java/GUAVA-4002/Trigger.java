import com.google.common.collect.*;

/** A range is added to a view of all of itself: https://github.com/google/guava/issues/4002 */
public class Trigger {
    public static void main(String[] args) throws Throwable {
        TreeRangeSet<Integer> set = TreeRangeSet.create();
        Range<Integer> range = Range.closedOpen(0, 5);
        set.subRangeSet(range).add(range);
    }
}
