import com.alibaba.fastjson.JSON;

/** A number that is only a sign: https://github.com/alibaba/fastjson/issues/3631 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        JSON.parse("{[-");
    }
}
