package jail;

import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.Properties;

/**
 * Does all the harm it can on the way to its crash. What it aims at stands in {@code where.properties} beside the classes; outside the
 * jail each deed works, which a control run shows.
 *
 * <p>A deed that gets through ends in another exception, so that the crash cannot be reproduced.
 */
public class Escape {
    interface Deed {
        void run() throws Exception;
    }

    private final Properties where = new Properties();
    private final StringBuilder done = new StringBuilder();

    public void crash(int wanted) throws Exception {
        try (InputStream in = Escape.class.getResourceAsStream("/where.properties")) {
            where.load(in);
        }
        harmFiles();
        harmProcesses();
        attempt("tcp", () -> tcp("127.0.0.1"));
        attempt("tcp6", () -> tcp("::1"));
        attempt("udp", () -> udp("127.0.0.1"));
        attempt("udp6", () -> udp("::1"));
        leaveGrandchild();
        if (done.length() > 0) throw new SecurityException("got through:" + done);
        if (wanted != 7) throw new IllegalStateException("all refused"); // crash
    }

    private void harmFiles() {
        Path home = Paths.get(where.getProperty("home"));
        attempt("read", () -> Files.readAllBytes(home.resolve("secret")));
        attempt("delete", () -> Files.delete(home.resolve("canary")));
        attempt("delete-io", () -> require(home.resolve("canary-io").toFile().delete()));
        attempt("write", () -> Files.write(home.resolve("written"), new byte[1]));
        attempt("append", () -> Files.write(home.resolve("appended"), new byte[1], StandardOpenOption.APPEND));
        attempt("truncate", () -> new FileOutputStream(home.resolve("truncated").toFile()).close());
        attempt("rename", () -> Files.move(home.resolve("renamed"), home.resolve("elsewhere")));
        attempt("link", () -> Files.createSymbolicLink(home.resolve("link"), home));
        attempt("mkdir", () -> Files.createDirectory(home.resolve("folder")));
        attempt("tmp", () -> Files.write(Paths.get(where.getProperty("tmp")), new byte[1]));
        attempt("class path", () -> Files.write(Paths.get(where.getProperty("classes"), "planted"), new byte[1]));
    }

    private void harmProcesses() {
        String bait = where.getProperty("bait");
        attempt("environ", () -> require(text(Files.readAllBytes(Paths.get("/proc", bait, "environ"))).contains("SECRET")));
        attempt("memory", () -> {
            try (RandomAccessFile memory = new RandomAccessFile("/proc/" + bait + "/mem", "rw")) {
                memory.length();
            }
        });
        attempt("kill", () -> require(new ProcessBuilder("kill", "-9", bait).start().waitFor() == 0));
    }

    private void tcp(String host) throws Exception {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(host, Integer.parseInt(where.getProperty("port"))), 500);
            socket.getOutputStream().write(1);
        }
    }

    private void udp(String host) throws Exception {
        try (DatagramSocket socket = new DatagramSocket()) {
            int port = Integer.parseInt(where.getProperty("port"));
            socket.send(new DatagramPacket(new byte[1], 1, InetAddress.getByName(host), port));
        }
    }

    /** Allowed; but it must not outlive the run. */
    private void leaveGrandchild() throws Exception {
        new ProcessBuilder("setsid", "sleep", where.getProperty("nap")).start();
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private static void require(boolean worked) {
        if (!worked) throw new IllegalStateException();
    }

    private void attempt(String name, Deed deed) {
        try {
            deed.run();
            done.append(' ').append(name);
        } catch (Exception refused) {
            // As it should be.
        }
    }
}
