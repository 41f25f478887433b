import org.apache.commons.jxpath.ClassFunctions;

/** ClassFunctions asked for a function in no namespace: https://issues.apache.org/jira/browse/JXPATH-38 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        new ClassFunctions(String.class, "ns").getFunction(null, "trim", new Object[] {""});
    }
}
