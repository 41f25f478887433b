package x;

import java.lang.reflect.Field;

/** X09: an optional path kills the virtual machine. */
public class NativeCrash {
    public static void go(boolean optional, int code) throws Exception {
        if (optional) {
            Class<?> unsafe = Class.forName("sun.misc.Unsafe");
            Field field = unsafe.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            unsafe.getMethod("putAddress", long.class, long.class).invoke(field.get(null), 0L, 0L);
        }
        if (code == 77) throw new IllegalStateException("crash"); // crash
    }
}
