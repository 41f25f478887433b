import java.util.HashMap;
import java.util.Map;
import org.apache.commons.collections.map.TransformedMap;

/** A small program that crashes in a library: what the demo takes its log from. */
public final class Orders {
    private final Map prices = TransformedMap.decorate(new HashMap(), null, String::valueOf);

    void update(Map changed) {
        prices.putAll(changed);
    }

    public static void main(String[] args) {
        System.out.println("2026-03-02 08:14:55,120 INFO  Orders - starting");
        Orders orders = new Orders();
        Map changed = new HashMap();
        changed.put("apple", 120);
        orders.update(changed);
        System.out.println("2026-03-02 08:14:55,131 INFO  Orders - 1 price updated");
        try {
            orders.update(new HashMap());
        } catch (RuntimeException e) {
            System.out.println("2026-03-02 08:14:55,133 ERROR Orders - update failed");
            e.printStackTrace(System.out);
        }
        System.out.println("2026-03-02 08:14:55,140 INFO  Orders - stopping");
    }
}
