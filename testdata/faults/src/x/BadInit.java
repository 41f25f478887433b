package x;

/** X16: an optional path uses a class whose initialiser fails, which poisons the class. */
public class BadInit {
    static class Poison {
        static final int VALUE = 1 / Integer.parseInt("0");
    }

    public static int go(boolean optional, int code) {
        if (optional) return Poison.VALUE;
        if (code == 77) throw new IllegalStateException("crash"); // crash
        return 0;
    }
}
