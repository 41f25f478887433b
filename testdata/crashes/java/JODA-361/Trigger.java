import org.joda.time.*;

/** plusMonths that overflows: https://github.com/JodaOrg/joda-time/issues/361 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        new DateTime(1455993437373L, DateTimeZone.UTC).plusMonths(Integer.MAX_VALUE);
    }
}
