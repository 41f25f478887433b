package x;

/** X17: the second call in a process crashes, so tests before it must leave nothing behind. */
public class SecondCall {
    private static int calls;

    public static void go() {
        if (++calls == 2) throw new IllegalStateException("crash"); // crash
    }
}
