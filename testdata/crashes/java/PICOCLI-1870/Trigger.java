import picocli.CommandLine;
import picocli.CommandLine.*;

/** Help for a command with many aliases: https://github.com/remkop/picocli/issues/1870 */
public class Trigger {
    @Command(name = "import-from-excel", aliases = { "import-from-xls", "import-from-xlsx", "import-from-csv", "import-from-txt" }, description = "Imports the data from various excel files (xls, xlsx, csv or even txt).") static class Imp implements Runnable { public void run() { } }
    @Command(name = "app", subcommands = Imp.class) static class App { }
    public static void main(String[] args) throws Throwable {
        new CommandLine(new App()).usage(System.out);
    }
}
