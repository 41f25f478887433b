package jail;

import java.util.ArrayList;
import java.util.List;

/** Most of its methods end the process, or never end; a search for the crash calls them by the way. */
public class Stop {
    private final Object lock = new Object();
    private final List<long[]> hoard = new ArrayList<>();
    private int armed;

    public void arm(int by) {
        if (by > 0) armed++;
    }

    public int exit(int code) {
        System.exit(code);
        return armed;
    }

    public int exitOfRuntime(int code) {
        Runtime.getRuntime().exit(code);
        return armed;
    }

    public int halt(int code) {
        Runtime.getRuntime().halt(code);
        return armed;
    }

    /** No call that an editor of class files could see. */
    public Object haltByReflection(int code) throws Exception {
        return Runtime.class.getMethod("halt", int.class).invoke(Runtime.getRuntime(), code);
    }

    public int spin(int i) {
        while (true) i = i * 31 + 1;
    }

    /** Deaf to interrupts. */
    public void sleep(long ms) {
        while (true) {
            try {
                Thread.sleep(Math.abs(ms) + 1000000);
            } catch (InterruptedException ignored) {
                armed = 0;
            }
        }
    }

    /** Another thread has the lock for ever. */
    public void deadlock() throws InterruptedException {
        Thread holder = new Thread(() -> {
            synchronized (lock) {
                sleep(0);
            }
        });
        holder.setDaemon(true);
        holder.start();
        while (holder.getState() != Thread.State.TIMED_WAITING) Thread.yield();
        synchronized (lock) {
            armed++;
        }
    }

    public int exhaust() {
        while (true) hoard.add(new long[1 << 20]);
    }

    public void crash(int code) {
        if (armed > 0 && code == 4711) throw new IllegalStateException("armed"); // crash
    }
}
