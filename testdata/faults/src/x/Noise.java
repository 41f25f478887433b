package x;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.util.Arrays;

/** X14: prints without measure and closes what it can reach. */
public class Noise {
    public static void go(int code) throws IOException {
        byte[] much = new byte[1 << 20];
        Arrays.fill(much, (byte) 'x');
        for (int i = 0; i < 16; i++) System.out.write(much);
        System.err.println(code);
        new FileOutputStream(FileDescriptor.out).close();
        System.err.close();
        if (code != 3) throw new IllegalStateException("crash"); // crash
    }
}
