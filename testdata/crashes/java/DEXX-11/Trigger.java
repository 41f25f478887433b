import com.github.andrewoma.dexx.collection.TreeMap;

/** The values below a key beyond the last: https://github.com/andrewoma/dexx/issues/11 */
public class Trigger {
    public static void main(String[] args) throws Throwable {
        TreeMap<Integer, String> map = new TreeMap<>();
        map = map.put(0, "0");
        map = map.put(50, "50");
        System.out.println(map.to(101, false).values());
    }
}
