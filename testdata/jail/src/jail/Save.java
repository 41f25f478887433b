package jail;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/** Crashes because it may not write; outside the jail it would write, and not crash. */
public class Save {
    public void wrapped() throws IOException {
        String file = file();
        try {
            new FileOutputStream(file).close();
        } catch (IOException refused) {
            throw new IllegalStateException("not saved", refused); // crash
        }
    }

    static String file() throws IOException {
        Properties where = new Properties();
        try (InputStream in = Save.class.getResourceAsStream("/where.properties")) {
            where.load(in);
        }
        return where.getProperty("home") + "/truncated";
    }
}
