import java.util.*;

/** The difference of two empty lists: https://github.com/dnaumenko/java-diff-utils/issues/8 */
public class Trigger {
    public static void main(String[] args) throws Throwable {
        difflib.DiffUtils.diff(new ArrayList<String>(), new ArrayList<String>());
    }
}
