import org.apache.commons.math.stat.clustering.*;
import java.util.*;

/** k-means++ over points whose distance overflows: https://issues.apache.org/jira/browse/MATH-305 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        EuclideanIntegerPoint[] points = {
            new EuclideanIntegerPoint(new int[] {1959, 325100}), new EuclideanIntegerPoint(new int[] {1960, 373200}),
        };
        new KMeansPlusPlusClusterer<EuclideanIntegerPoint>(new Random(1746432956321L)).cluster(Arrays.asList(points), 2, 1);
    }
}
