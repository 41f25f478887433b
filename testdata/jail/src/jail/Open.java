package jail;

import java.io.FileOutputStream;
import java.io.IOException;

/** What it throws in the jail is the refusal itself. */
public class Open {
    public void bare() throws IOException {
        String file = Save.file();
        new FileOutputStream(file).close(); // crash
    }
}
