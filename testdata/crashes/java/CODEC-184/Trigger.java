import org.apache.commons.codec.language.DoubleMetaphone;

/** DoubleMetaphone.isDoubleMetaphoneEqual of empty strings: https://issues.apache.org/jira/browse/CODEC-184 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        new DoubleMetaphone().isDoubleMetaphoneEqual("", "", true);
    }
}
