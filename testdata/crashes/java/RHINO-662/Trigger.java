import org.mozilla.javascript.*;

/** A property of a text as the target of an assignment: https://github.com/mozilla/rhino/issues/662 */
public class Trigger {
    public static void main(String[] args) throws Throwable {
        Context cx = Context.enter();
        cx.compileString("[\"\".h]=y", "test", 1, null);
    }
}
