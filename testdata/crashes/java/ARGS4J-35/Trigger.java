import org.kohsuke.args4j.*;

/** An argument that is not a number has no name to report: https://github.com/kohsuke/args4j/issues/35 */
public class Trigger {
    static class Opts { @Argument(index = 0) int n; }
    public static void main(String[] args) throws Throwable {
        new CmdLineParser(new Opts()).parseArgument("notanumber");
    }
}
