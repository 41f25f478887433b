package p;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

public class Sample {
    public static final int LIMIT = 4711;
    static int counter = "x".length();
    Sample next;
    int[] data;

    public static class Open {}

    private class Hidden {
        class Deep {}
    }

    enum Color { RED, GREEN }

    Object makes() {
        class Local {}
        new Local();
        return new Object() {};
    }

    String mixed(long a, Object[][] b, int c) {
        return null;
    }

    static void varied(String... all) {}

    @Deprecated
    void old() {}

    static int classify(int n) {
        return n < 0 ? -1 : 1;
    }

    int use(StringBuilder out, String text) {
        return out.append(text.trim()).length() + classify(text.length()); // calls
    }

    int casts(Object a, Object b, Object c) {
        Object copy = a;
        if (copy instanceof String) {
            return ((String) copy).length();
        }
        int n = ((List<?>) a).size();
        Object other = b;
        n += (Integer) other;
        c = new ArrayList<Object>();
        return n + ((ArrayList<?>) c).size();
    }

    String literals(int n, long big, double real) {
        byte small = 100;
        int product = small * 3;
        int negative = -(1000);
        if (n == -7 || big == 0xCAFEBABEL || real > 2.5) {
            return "ready:" + n + product + negative;
        }
        switch (n) {
            case 'Q': return Thread.class.getName();
            default: return null;
        }
    }

    void raise(int n, RuntimeException given) {
        if (n > 0) {
            throw new IllegalStateException("n = " + n); // made
        }
        throw given; // given
    }

    int derefs(int i, int by) {
        int[] fresh = new int[i];
        return next.next.data[i] + i / by + i % 10 + fresh.length; // derefs
    }

    private static int deepest(int n) {
        return 10 / n;
    }

    private static int deeper(int n) {
        return deepest(n - 1);
    }

    public static int surface(int n) {
        return deeper(n - 1);
    }

    static Supplier<String> lambdas(String text) {
        return () -> text.trim();
    }

    static int nested(int a, int b, int c) {
        int sum = 0;
        if (a > 1) {
            sum += a;
            if (b > 2) {
                sum += b;
                if (c > 3) {
                    sum += c; // target
                }
            }
        }
        return sum;
    }
}

class Aside {
    public static class Inside {}
}

/** Prints what each method gives for a grid of arguments: method, two arguments, result. */
class Compute {
    static int[] grid = {-2147483648, -70000, -3, -1, 0, 1, 2, 3, 7, 31, 33, 255, 70000, 2147483647};

    public static void main(String[] args) {
        for (int a : grid) {
            for (int b : grid) {
                show("arith", a, b);
                show("bits", a, b);
                show("wide", a, b);
                show("real", a, b);
                show("loop", a, b);
                show("choose", a, b);
                show("arrays", a, b);
                show("guarded", a, b);
                show("cleanup", a, b);
                show("shuffle", a, b);
                show("dense", a, b);
            }
        }
    }

    static void show(String name, int a, int b) {
        String result;
        try {
            result = String.valueOf(call(name, a, b));
        } catch (RuntimeException e) {
            result = e.getClass().getName();
        }
        System.out.println(name + " " + a + " " + b + " " + result);
    }

    static int call(String name, int a, int b) {
        switch (name) {
            case "arith": return arith(a, b);
            case "bits": return bits(a, b);
            case "wide": return wide(a, b);
            case "real": return real(a, b);
            case "loop": return loop(a, b);
            case "choose": return choose(a, b);
            case "arrays": return arrays(a, b);
            case "guarded": return guarded(a, b);
            case "cleanup": return cleanup(a, b);
            case "shuffle": return shuffle(a, b);
            default: return dense(a, b);
        }
    }

    static int arith(int a, int b) {
        return a * 3 - b / 2 + a % 7 - -b + a / b;
    }

    static int bits(int a, int b) {
        return (a << b) ^ (a >> b) ^ (a >>> b) | (a & b) ^ (byte) a ^ (char) b ^ (short) (a + b);
    }

    static int wide(int a, int b) {
        long x = (long) a * b;
        long y = x << 3 ^ x >>> 5;
        y -= a;
        if (x > y) {
            y = ~y;
        }
        return (int) (y ^ y >> 32) + (x == y ? 1 : 2);
    }

    static int real(int a, int b) {
        double d = a / 3.0 + b;
        float f = (float) d * 0.5f;
        if (d < f) {
            return (int) d;
        }
        return (int) (f * 1e6) + (d != d ? 1 : 0) + (int) (0.0 / a) + (Float.valueOf(1) > 0 && f >= 1f ? 5 : 6);
    }

    static int loop(int a, int b) {
        int sum = 0;
        outer:
        for (int i = 0; i < (a & 15); i++) {
            for (int j = i; j < (b & 15); j += 2) {
                if ((i ^ j) == 9) {
                    continue outer;
                }
                sum += i * j;
                if (sum > 500) {
                    break outer;
                }
            }
        }
        return sum;
    }

    static int choose(int a, int b) {
        switch (a) {
            case -3: b++;
            case 7: return b + 1;
            case 70000: return b - 1;
            case 255: throw new IllegalStateException();
            default: return a > b ? a : b;
        }
    }

    static int dense(int a, int b) {
        switch (a) {
            case 0: return b;
            case 1: return -b;
            case 2: return b / 2;
            case 3: return b / a;
            default: return 9;
        }
    }

    static int arrays(int a, int b) {
        int[] x = new int[b & 255];
        int[][] y = new int[3][];
        long[] z = {1, 2, a};
        y[1] = x;
        x[1] = a;
        x[a & 7] += 5;
        y[a & 1][2]++;
        z[b & 1] <<= 2;
        char[] c = {'a', (char) b};
        c[1] += 3;
        return x[1] + x[2] + y.length + (int) (z[0] + z[1] + z[2]) + c[1];
    }

    static int guarded(int a, int b) {
        int[] x = null;
        int r = 1;
        try {
            r = 100 / a;
            if (b > 2) {
                r += x.length;
            }
            if (b == 1) {
                throw new IllegalArgumentException();
            }
            r += new int[b].length;
        } catch (ArithmeticException e) {
            r = -1;
        } catch (NullPointerException | NegativeArraySizeException e) {
            r += 1000;
        } catch (IllegalArgumentException e) {
            if (a > 100) {
                throw e;
            }
            r += 7;
        }
        return r;
    }

    static int cleanup(int a, int b) {
        int r = 0;
        for (int i = 0; i < 3; i++) {
            try {
                try {
                    r += a / (b - i);
                    if (r == 31) {
                        return r;
                    }
                    if (a == 7) {
                        continue;
                    }
                    r++;
                } finally {
                    r += 10;
                }
            } catch (ArithmeticException e) {
                r += 100;
            }
        }
        return r;
    }

    static int at;
    static long wideAt;

    static int shuffle(int a, int b) {
        int[] x = {a, b, 3};
        long[] y = {a, b};
        int i = 0;
        int old = x[i++]++ + ++x[i] + (x[2] += a);
        at = b;
        int was = at++ + (at -= a);
        wideAt = a;
        long w = wideAt++ + (y[1] *= 3) + y[0]--;
        int p, q;
        p = q = x[0] = b;
        return old ^ was ^ (int) w ^ p + q * i + x[0] + (int) y[0];
    }
}
