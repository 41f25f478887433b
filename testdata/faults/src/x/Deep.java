package x;

/** X08: recursion without end. */
public class Deep {
    public static int go(int n) {
        if (n > 100) return n;
        return 1 + go(n - (n & 1)); // crash
    }
}
