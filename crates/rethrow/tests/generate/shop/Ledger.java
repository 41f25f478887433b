package shop;

import java.util.ArrayList;
import java.util.List;

/** Something for each oracle: rejected arguments, a defect, a broken contract, values to assert. */
public class Ledger {
    private final List<String> names = new ArrayList<String>();
    private int[] slots = new int[2];
    private int used;

    public void put(String name) {
        if (name == null) {
            throw new IllegalArgumentException("no name");
        }
        // the third name does not fit: a defect that no argument explains
        slots[used++] = name.length();
        names.add(name);
    }

    public int total() {
        int sum = 0;
        for (int slot : slots) {
            sum += slot;
        }
        return sum;
    }

    public String kind(int code) {
        switch (code) {
            case 4711:
                return "cologne";
            case -3:
                return "below";
            default:
                return code > 100 ? "many" : "few";
        }
    }

    @Override
    public boolean equals(Object other) {
        // breaks its contract
        return other == null || other instanceof Ledger && other == this;
    }

    @Override
    public int hashCode() {
        return 7;
    }

    public static void quit() {
        System.exit(3);
    }
}
