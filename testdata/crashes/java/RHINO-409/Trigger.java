import org.mozilla.javascript.*;

/** A comment that is cut off after its first dash: https://github.com/mozilla/rhino/issues/409 */
public class Trigger {
    public static void main(String[] args) throws Throwable {
        Context cx = Context.enter();
        cx.compileString("<!-", "test", 1, null);
    }
}
