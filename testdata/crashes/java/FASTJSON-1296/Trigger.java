import com.alibaba.fastjson.JSON;

/** parseObject of a number: https://github.com/alibaba/fastjson/issues/1296 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        JSON.parseObject("1");
    }
}
