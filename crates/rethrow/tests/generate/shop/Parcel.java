package shop;

/** Breaks what objects promise: equal parcels have different hash codes, and the order is not antisymmetric. */
public class Parcel implements Comparable<Parcel> {
    private static int made;
    private final int weight;
    private final int number;

    public Parcel(int weight) {
        this.weight = Math.abs(weight % 3);
        this.number = ++made;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Parcel && ((Parcel) other).weight == weight;
    }

    @Override
    public int hashCode() {
        return number;
    }

    @Override
    public int compareTo(Parcel other) {
        return weight == other.weight ? 1 : weight - other.weight;
    }

    /** Nobody should call this any more, and nobody is told that it fails. */
    @Deprecated
    public int perItem(String items) {
        return items.split(",")[1].length();
    }
}
