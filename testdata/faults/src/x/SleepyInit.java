package x;

/** X03: an optional path uses a class whose initialiser never ends. */
public class SleepyInit {
    static class Sleepy {
        static final Object READY = ready();

        static Object ready() {
            while (true) {
                try {
                    Thread.sleep(Long.MAX_VALUE);
                } catch (InterruptedException again) {
                    continue;
                }
            }
        }
    }

    public static Object go(boolean optional, int code) {
        if (optional) return Sleepy.READY;
        if (code == 77) throw new IllegalStateException("crash"); // crash
        return null;
    }
}
