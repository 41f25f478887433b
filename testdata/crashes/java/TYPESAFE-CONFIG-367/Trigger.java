import com.typesafe.config.*;

/** A problem in a text without a place is reported: https://github.com/lightbend/config/issues/367 */
public class Trigger {
    public static void main(String[] args) throws Throwable {
        ConfigFactory.parseString("description = The stage has an unacceptable position error, datum may be lost.\n a [ = 1");
    }
}
