package x;

/** I03: a signature names a class that is deleted after compilation; the crash does not need it. */
public class Mentions {
    public static Absent other(Absent absent) {
        return absent;
    }

    public static void go(int code) {
        if (code == 77) throw new IllegalStateException("crash"); // crash
    }
}
