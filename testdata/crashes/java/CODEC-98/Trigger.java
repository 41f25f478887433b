import org.apache.commons.codec.binary.*;
import java.io.*;
import java.util.Arrays;

/** Base64InputStream over data without padding: https://issues.apache.org/jira/browse/CODEC-98 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        byte[] data = new byte[75];
        Arrays.fill(data, (byte) 'Z');
        InputStream in = new Base64InputStream(new ByteArrayInputStream(data));
        while (in.read(new byte[1024]) >= 0) {
            continue;
        }
    }
}
