import org.apache.commons.lang.ClassUtils;

/** ClassUtils.toClass with null in the array: https://issues.apache.org/jira/browse/LANG-587 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        ClassUtils.toClass(new Object[] {"Test", null, Double.valueOf(99)});
    }
}
