import org.apache.commons.math.linear.OpenMapRealVector;

/** OpenMapRealVector.ebeMultiply changes what it iterates over: https://issues.apache.org/jira/browse/MATH-645 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        OpenMapRealVector ones = new OpenMapRealVector(new double[] {1, 1, 1});
        ones.ebeMultiply(new OpenMapRealVector(new double[] {0, 1, 0}));
    }
}
