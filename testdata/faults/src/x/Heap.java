package x;

/** X06: asks for more than there is. */
public class Heap {
    public static int go(int n) {
        if (n < 5) return 0;
        long[] all = new long[n]; // crash
        return all.length;
    }
}
