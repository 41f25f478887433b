package stock;

/** Answers with arrays, one of which changes after it was given away. */
public class Labels {
    private final int[] counts = {0, 7};

    public static byte[] code() {
        return new byte[] {-1, 65, 127};
    }

    public static String[] names(boolean last) {
        return new String[] {"first", last ? "last" : null};
    }

    public int[] counts() {
        return counts;
    }

    public boolean[] raise() {
        counts[0] += 5;
        return new boolean[] {counts[0] > 5};
    }

    public double[] shares() {
        return new double[] {0.5, Double.NaN};
    }
}
