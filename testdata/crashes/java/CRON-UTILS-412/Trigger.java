import com.cronutils.model.*;
import com.cronutils.model.definition.*;
import com.cronutils.parser.*;

/** A hash without the numbers beside it: https://github.com/jmrozanec/cron-utils/issues/412 */
public class Trigger {
    public static void main(String[] args) throws Throwable {
        new CronParser(CronDefinitionBuilder.instanceDefinitionFor(CronType.QUARTZ)).parse("0 0 0 ? * #");
    }
}
