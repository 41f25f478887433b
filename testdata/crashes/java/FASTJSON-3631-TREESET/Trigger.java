import com.alibaba.fastjson.JSON;

/** A tree set of lists: https://github.com/alibaba/fastjson/issues/3631 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        JSON.parse("TreeSet[[]");
    }
}
