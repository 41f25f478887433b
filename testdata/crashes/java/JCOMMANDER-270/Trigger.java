import com.beust.jcommander.*;

/** Usage of a command without annotation: https://github.com/cbeust/jcommander/issues/270 */
public class Trigger {
    static class Main { @Parameter(names = "-v") boolean v; }
    static class Add { @Parameter(names = "-f") String f; }
    public static void main(String[] args) throws Throwable {
        JCommander jc = new JCommander(new Main());
        jc.addCommand("add", new Add());
        jc.usage();
    }
}
