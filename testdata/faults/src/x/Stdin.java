package x;

import java.io.IOException;

/** X15: waits for input. */
public class Stdin {
    public static void go(int code) throws IOException {
        if (System.in.read() < 0 && code != 3) throw new IllegalStateException("crash"); // crash
    }
}
