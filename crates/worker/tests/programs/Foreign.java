import java.io.File;
import java.io.FileWriter;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A program with threads, a child process and bad manners. */
public class Foreign {
    interface Attempt {
        boolean run() throws Exception;
    }

    static void attempt(String name, Attempt attempt) {
        boolean done;
        try {
            done = attempt.run();
        } catch (Exception refused) {
            done = false;
        }
        System.out.println(name + (done ? " SUCCEEDED" : " refused"));
    }

    public static void main(String[] args) throws Exception {
        final File canary = new File(args[0]);
        final AtomicInteger sum = new AtomicInteger();
        ExecutorService pool = Executors.newFixedThreadPool(8);
        for (int i = 0; i < 100; i++) {
            final int number = i;
            pool.execute(() -> sum.addAndGet(number));
        }
        pool.shutdown();
        pool.awaitTermination(30, TimeUnit.SECONDS);
        System.out.println("sum " + sum.get());
        System.out.println("stdin " + System.in.read());
        System.out.println("child " + new ProcessBuilder("sh", "-c", "exit 5").start().waitFor());
        try (FileWriter own = new FileWriter("own")) {
            own.write("mine");
        }
        System.out.println("own " + new File("own").length());
        attempt("write", () -> {
            new FileWriter(canary).close();
            return true;
        });
        attempt("mode", () -> canary.setWritable(false));
        attempt("time", () -> canary.setLastModified(1000));
        attempt("delete", canary::delete);
        attempt("tcp", () -> {
            new Socket("127.0.0.1", Integer.parseInt(args[1])).close();
            return true;
        });
        attempt("udp", () -> {
            try (DatagramSocket socket = new DatagramSocket()) {
                InetAddress here = InetAddress.getByName("127.0.0.1");
                socket.send(new DatagramPacket(new byte[1], 1, here, 9));
            }
            return true;
        });
        System.exit(3);
    }
}
