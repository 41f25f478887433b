import java.io.Serializable;
import java.util.Collections;
import org.mvel2.MVEL;

/** A shifted long is taken for an int: https://github.com/mvel/mvel/issues/346 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        Serializable expression = MVEL.compileExpression("(aaa >> 4) & 15");
        MVEL.executeExpression(expression, Collections.singletonMap("aaa", 1086456579L));
    }
}
