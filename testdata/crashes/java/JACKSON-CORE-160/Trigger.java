import com.fasterxml.jackson.core.*;
import java.io.*;
import java.util.Arrays;

/** A number of five hundred digits: https://github.com/FasterXML/jackson-core/issues/160 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        byte[] digits = new byte[500];
        Arrays.fill(digits, (byte) '1');
        new JsonFactory().createParser(new ByteArrayInputStream(digits)).nextToken();
    }
}
