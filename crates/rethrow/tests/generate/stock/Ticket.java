package stock;

/** Has a number that no other process gives it, and says nothing else. */
public class Ticket {
    public int number() {
        return System.identityHashCode(this) * 31 + 7;
    }
}
