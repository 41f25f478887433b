package x;

/** X10: leaves threads behind with every call. */
public class Threads {
    public static void go(int code) {
        for (int i = 0; i < 20; i++) {
            Thread thread = new Thread(Threads::sleep);
            thread.setDaemon(true);
            thread.start();
        }
        if (code == 77) throw new IllegalStateException("crash"); // crash
    }

    private static void sleep() {
        try {
            Thread.sleep(1000000);
        } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
        }
    }
}
