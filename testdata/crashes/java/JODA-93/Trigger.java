import org.joda.time.*;

/** Partial.with a field that has no range: https://github.com/JodaOrg/joda-time/issues/93 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        new Partial(DateTimeFieldType.yearOfCentury(), 1).with(DateTimeFieldType.weekyear(), 1);
    }
}
