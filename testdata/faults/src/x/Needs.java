package x;

/** I03: its superclass is deleted after compilation. */
public class Needs extends Absent {
    public static void go(int code) {
        if (code == 77) throw new IllegalStateException("crash"); // crash
    }
}
