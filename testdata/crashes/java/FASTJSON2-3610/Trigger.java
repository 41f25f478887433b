import com.alibaba.fastjson2.JSON;

/** A text that ends after a name: https://github.com/alibaba/fastjson2/issues/3610 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        JSON.parseObject("{\"screenWidth\":1920,\"isSupportSmallWindow\"");
    }
}
