import org.apache.commons.cli.*;
import java.io.*;

/** HelpFormatter.findWrapPos beyond the end of the text: https://issues.apache.org/jira/browse/CLI-193 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        new HelpFormatter().printWrapped(new PrintWriter(new StringWriter()), 5, "unbreakable");
    }
}
