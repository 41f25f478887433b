package x;

/** X18: the clock decides. */
public class Flaky {
    public static void go(int code) {
        if ((System.nanoTime() >> 10) % 3 == 0) throw new IllegalStateException("crash"); // crash
    }
}
