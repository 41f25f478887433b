package jail;

/** Shows that the deeds of {@link Escape} work where nothing hinders them: prints those that got through. */
public class Control {
    private Control() {}

    public static void main(String[] args) throws Exception {
        try {
            new Escape().crash(0);
        } catch (SecurityException gotThrough) {
            System.out.println(gotThrough.getMessage());
        }
    }
}
