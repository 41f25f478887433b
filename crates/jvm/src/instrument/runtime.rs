//! The classes that probes call, emitted as bytes and defined by the worker before the program runs.
//!
//! `rethrow/rt/Probe` holds what one test did, in public static fields that the worker reads in bulk. All lists are
//! valid only in the current `epoch`, so that starting a test costs nothing per probe; in epoch 0 nothing is recorded.
//!
//! | fields | meaning |
//! |---|---|
//! | `int epoch, steps` | current test; steps left (method entries and loop rounds) before `StepLimit` is thrown |
//! | `int n; int[] list, hit` | hit probes in the order of their first hit; stamp per probe |
//! | `int bn; int[] blist, bstamp; double[] dist` | branches reached; stamp; four slots per branch: smallest positive difference, smallest negated negative difference, 1 if zero was seen, smallest distance to "true" (written by the native `hint`). Infinite means none |
//! | `int vn; long[] vals; int[] vids` | pairs of compared operands, with the branch (first comparison of each) |
//! | `int sn; int[] sids, svals` | distinct (switch, value) pairs, as far as they fit |
//! | `int dn; int[] savedIdx; long[] savedJ; Object[] savedL; int lost` | first overwritten value per static field, raw bits or reference, to be put back last to first; `lost` if a number was beyond the arrays |
//! | `int exits` | calls of `exit` and `halt` that were stopped |
//! | `boolean hints; int hn` | whether the native method `hint(Object, Object, int)` is registered; how often it was called |
//! | `int marks, maxMarks` | calls left of the native method `callers(int)` in this test, and how many a test has; 0 if it is not registered |
//!
//! `init(hits, branches, statics)` makes the arrays, `begin(steps)` starts a test, `pause()` lets program code run
//! unobserved. Whatever the numbers and threads, a probe throws nothing but `StepLimit` and `Exit`.

use super::assemble::assemble;

/// Internal name of the class whose static methods are the probes.
pub const PROBE: &str = "rethrow/rt/Probe";
/// Thrown when the step budget is spent.
pub const STEP_LIMIT: &str = "rethrow/rt/StepLimit";
/// Thrown instead of ending the process; its field `code` is the exit code.
pub const EXIT: &str = "rethrow/rt/Exit";

/// Signature of the native method `Probe.hint`: receiver, argument or null, `branch << 4 | HintOp`.
pub const HINT_DESCRIPTOR: &str = "(Ljava/lang/Object;Ljava/lang/Object;I)V";

/// Signature of the native method `Probe.callers`: the probe.
pub const CALLERS_DESCRIPTOR: &str = "(I)V";

/// Pairs of internal name and class bytes, in the order in which they can be defined.
pub fn probe_classes() -> Vec<(&'static str, Vec<u8>)> {
    [(STEP_LIMIT, STEP_LIMIT_TEXT), (EXIT, EXIT_TEXT), (PROBE, PROBE_TEXT)]
        .map(|(name, text)| (name, assemble(text).expect("a constant text that the tests assemble")))
        .into()
}

const STEP_LIMIT_TEXT: &str = "
class rethrow/rt/StepLimit extends java/lang/Error
method <init> ()V
    # no suppression, no stack trace: thrown often and never shown
    aload 0, aconst_null, aconst_null, iconst_0, iconst_0
    invokespecial java/lang/Error <init> (Ljava/lang/String;Ljava/lang/Throwable;ZZ)V
    return
";

const EXIT_TEXT: &str = "
class rethrow/rt/Exit extends java/lang/Error
field code I
method <init> (I)V
    aload 0, aconst_null, aconst_null, iconst_0, iconst_0
    invokespecial java/lang/Error <init> (Ljava/lang/String;Ljava/lang/Throwable;ZZ)V
    aload 0, iload 1, putfield code
    return
";

const PROBE_TEXT: &str = "
class rethrow/rt/Probe extends java/lang/Object
static epoch I
static steps I
static n I
static hit [I
static list [I
static bn I
static bstamp [I
static blist [I
static dist [D
static vn I
static vals [J
static vids [I
static sn I
static sids [I
static svals [I
static sstamp [I
static skeys [J
static dn I
static dstamp [I
static savedIdx [I
static savedJ [J
static savedL [Ljava/lang/Object;
static lost I
static exits I
static hints Z
static hn I
static marks I
static maxMarks I

native hint (Ljava/lang/Object;Ljava/lang/Object;I)V
native callers (I)V

static-method <clinit> ()V
    iconst_0, iconst_0, iconst_0, invokestatic init (III)V
    int 512, newarray long, putstatic vals
    int 512, newarray int, putstatic vids
    int 256, newarray int, putstatic sids
    int 256, newarray int, putstatic svals
    int 256, newarray int, putstatic sstamp
    int 256, newarray long, putstatic skeys
    invokestatic pause ()V
    return

static-method init (III)V     # hits, branches, statics
    iload 0, newarray int, putstatic hit
    iload 0, newarray int, putstatic list
    iload 1, newarray int, putstatic bstamp
    iload 1, newarray int, putstatic blist
    iload 1, iconst_2, ishl, newarray double, putstatic dist
    iload 2, newarray int, putstatic dstamp
    iload 2, newarray int, putstatic savedIdx
    iload 2, newarray long, putstatic savedJ
    iload 2, anewarray java/lang/Object, putstatic savedL
    iconst_0, putstatic n, iconst_0, putstatic bn, iconst_0, putstatic dn
    return

static-method begin (I)V      # steps
    getstatic epoch, iconst_1, iadd, putstatic epoch
    iconst_0, putstatic n, iconst_0, putstatic bn, iconst_0, putstatic vn, iconst_0, putstatic sn
    iconst_0, putstatic hn, iconst_0, putstatic lost, iconst_0, putstatic exits
    getstatic maxMarks, putstatic marks
    getstatic savedL, iconst_0, getstatic dn, aconst_null
    invokestatic java/util/Arrays fill ([Ljava/lang/Object;IILjava/lang/Object;)V
    iconst_0, putstatic dn
    iload 0, putstatic steps
    return

static-method pause ()V
    int 2147483647, putstatic steps
    return

static-method step ()V
    getstatic steps, iconst_1, isub, dup, putstatic steps, iflt spent
    return
spent:
    new rethrow/rt/StepLimit, dup, invokespecial rethrow/rt/StepLimit <init> ()V, athrow

static-method hit (I)V        # a hit that is also a step
    getstatic steps, iconst_1, isub, dup, putstatic steps, iflt spent
    iload 0, invokestatic at (I)V
    return
spent:
    new rethrow/rt/StepLimit, dup, invokespecial rethrow/rt/StepLimit <init> ()V, athrow

static-method at (I)V
    getstatic hit, astore 1
    iload 0, aload 1, arraylength, if_icmpge end
    getstatic epoch, istore 2
    aload 1, iload 0, iaload, iload 2, if_icmpeq end
    aload 1, iload 0, iload 2, iastore
    getstatic n, istore 2, getstatic list, astore 1
    iload 2, aload 1, arraylength, if_icmpge end
    aload 1, iload 2, iload 0, iastore
    iload 2, iconst_1, iadd, putstatic n
end:
    return

static-method mark (I)V       # a probe on a line of the trace: who called its method?
    getstatic marks, ifle end
    getstatic marks, iconst_1, isub, putstatic marks
    iload 0, invokestatic callers (I)V
end:
    return

static-method touch (I)Z      # branch; makes its slots current, says whether they were not
    getstatic bstamp, astore 1
    iload 0, aload 1, arraylength, if_icmpge known
    getstatic epoch, istore 2
    aload 1, iload 0, iaload, iload 2, if_icmpeq known
    getstatic dist, astore 3
    iload 0, iconst_2, ishl, istore 4
    iload 4, iconst_3, iadd, aload 3, arraylength, if_icmpge known
    aload 1, iload 0, iload 2, iastore
    aload 3, iload 4, getstatic java/lang/Double POSITIVE_INFINITY D, dastore
    aload 3, iload 4, iconst_1, iadd, getstatic java/lang/Double POSITIVE_INFINITY D, dastore
    aload 3, iload 4, iconst_2, iadd, dconst_0, dastore
    aload 3, iload 4, iconst_3, iadd, getstatic java/lang/Double POSITIVE_INFINITY D, dastore
    getstatic bn, istore 2, getstatic blist, astore 1
    iload 2, aload 1, arraylength, if_icmpge known
    aload 1, iload 2, iload 0, iastore
    iload 2, iconst_1, iadd, putstatic bn
    iconst_1, ireturn
known:
    iconst_0, ireturn

static-method record (DI)V    # difference (never NaN), branch
    getstatic dist, astore 3
    iload 2, iconst_2, ishl, istore 4
    iload 4, iconst_3, iadd, aload 3, arraylength, if_icmpge end
    dload 0, dconst_0, dcmpl, istore 5
    iload 5, ifgt smaller
    iload 5, iflt negative
    aload 3, iload 4, iconst_2, iadd, dconst_1, dastore
    return
negative:
    dload 0, dneg, dstore 0
    iinc 4 1
smaller:
    dload 0, aload 3, iload 4, daload, dcmpg, ifge end
    aload 3, iload 4, dload 0, dastore
end:
    return

static-method small (J)Z      # a value from -1 to 2 is not worth remembering
    lload 0, iconst_1, i2l, ladd, iconst_4, i2l, lcmp, ifge no
    lload 0, iconst_m1, i2l, lcmp, iflt no
    iconst_1, ireturn
no:
    iconst_0, ireturn

static-method operands (JJI)V # left, right, branch
    lload 0, invokestatic small (J)Z, ifne end
    lload 2, invokestatic small (J)Z, ifne end
    getstatic vn, istore 5
    getstatic vals, astore 6, getstatic vids, astore 7
    iload 5, iconst_1, iadd, aload 6, arraylength, if_icmpge end
    aload 6, iload 5, lload 0, lastore
    aload 7, iload 5, iload 4, iastore
    iinc 5 1
    aload 6, iload 5, lload 2, lastore
    aload 7, iload 5, iload 4, iastore
    iinc 5 1
    iload 5, putstatic vn
end:
    return

static-method i (II)V         # value, branch
    iload 1, invokestatic touch (I)Z, pop
    iload 0, i2d, iload 1, invokestatic record (DI)V
    return

static-method icmp (III)V     # left, right, branch
    iload 2, invokestatic touch (I)Z, ifeq seen
    iload 0, i2l, iload 1, i2l, iload 2, invokestatic operands (JJI)V
seen:
    iload 0, i2d, iload 1, i2d, dsub, iload 2, invokestatic record (DI)V
    return

static-method nul (Ljava/lang/Object;I)V
    iload 1, invokestatic touch (I)Z, pop
    aload 0, ifnull zero
    dconst_1, iload 1, invokestatic record (DI)V
    return
zero:
    dconst_0, iload 1, invokestatic record (DI)V
    return

static-method acmp (Ljava/lang/Object;Ljava/lang/Object;I)V
    iload 2, invokestatic touch (I)Z, pop
    aload 0, aload 1, if_acmpeq zero
    dconst_1, iload 2, invokestatic record (DI)V
    return
zero:
    dconst_0, iload 2, invokestatic record (DI)V
    return

static-method lcmp (JJI)I     # left, right, branch
    iload 4, invokestatic touch (I)Z, ifeq seen
    lload 0, lload 2, iload 4, invokestatic operands (JJI)V
seen:
    lload 0, lload 2, lsub, lstore 5
    # the subtraction overflowed if the signs differ and the result has not that of the left side
    lload 0, lload 2, lxor, lload 0, lload 5, lxor, land, lconst_0, lcmp, iflt overflow
    lload 5, l2d, iload 4, invokestatic record (DI)V
    goto answer
overflow:
    lload 0, l2d, lload 2, l2d, dsub, iload 4, invokestatic record (DI)V
answer:
    lload 0, lload 2, lcmp, ireturn

static-method difference (DDII)V  # left, right, branch, what the comparison gives for NaN
    iload 4, invokestatic touch (I)Z, pop
    dload 0, dload 2, dcmpl, ifne unequal
    # also for equal infinities, whose difference would be NaN
    dconst_0, iload 4, invokestatic record (DI)V
    return
unequal:
    dload 0, dload 2, dsub, dstore 6
    dload 6, dload 6, dcmpl, ifeq number
    iload 5, i2d, getstatic java/lang/Double MAX_VALUE D, dmul, dstore 6
number:
    # infinite means 'none' in the slots
    dload 6, getstatic java/lang/Double MAX_VALUE D, invokestatic java/lang/Math min (DD)D
    getstatic java/lang/Double MAX_VALUE D, dneg, invokestatic java/lang/Math max (DD)D
    iload 4, invokestatic record (DI)V
    return

static-method fcmpl (FFI)I
    fload 0, f2d, fload 1, f2d, iload 2, iconst_m1, invokestatic difference (DDII)V
    fload 0, fload 1, fcmpl, ireturn

static-method fcmpg (FFI)I
    fload 0, f2d, fload 1, f2d, iload 2, iconst_1, invokestatic difference (DDII)V
    fload 0, fload 1, fcmpg, ireturn

static-method dcmpl (DDI)I
    dload 0, dload 2, iload 4, iconst_m1, invokestatic difference (DDII)V
    dload 0, dload 2, dcmpl, ireturn

static-method dcmpg (DDI)I
    dload 0, dload 2, iload 4, iconst_1, invokestatic difference (DDII)V
    dload 0, dload 2, dcmpg, ireturn

static-method sw (II)V        # value, switch
    iload 1, i2l, int 32, lshl, iload 0, i2l, int 32, lshl, int 32, lushr, lor, lstore 2
    # a direct-mapped table keeps out what was seen already
    iload 1, int 31, imul, iload 0, iadd, int 255, iand, istore 4
    getstatic sstamp, astore 5, getstatic skeys, astore 6
    aload 5, iload 4, iaload, getstatic epoch, if_icmpne fresh
    aload 6, iload 4, laload, lload 2, lcmp, ifeq end
fresh:
    aload 5, iload 4, getstatic epoch, iastore
    aload 6, iload 4, lload 2, lastore
    getstatic sn, istore 4
    iload 4, getstatic sids, arraylength, if_icmpge end
    getstatic sids, iload 4, iload 1, iastore
    getstatic svals, iload 4, iload 0, iastore
    iload 4, iconst_1, iadd, putstatic sn
end:
    return

static-method predicate (Ljava/lang/Object;Ljava/lang/Object;I)V
    getstatic hints, ifeq end
    aload 0, ifnull end
    getstatic hn, int 4096, if_icmpge end
    getstatic hn, iconst_1, iadd, putstatic hn
    iload 2, iconst_4, ishr, invokestatic touch (I)Z, pop
    aload 0, aload 1, iload 2, invokestatic hint (Ljava/lang/Object;Ljava/lang/Object;I)V
end:
    return

static-method save (IJLjava/lang/Object;)V  # static field, raw bits, reference
    getstatic dstamp, astore 4
    iload 0, aload 4, arraylength, if_icmpge beyond
    aload 4, iload 0, iaload, getstatic epoch, if_icmpeq end
    aload 4, iload 0, getstatic epoch, iastore
    getstatic dn, istore 5
    iload 5, getstatic savedIdx, arraylength, if_icmpge beyond
    getstatic savedIdx, iload 5, iload 0, iastore
    getstatic savedJ, iload 5, lload 1, lastore
    getstatic savedL, iload 5, aload 3, aastore
    iload 5, iconst_1, iadd, putstatic dn
end:
    return
beyond:
    iconst_1, putstatic lost
    return

static-method saveI (II)V
    iload 1, iload 0, i2l, aconst_null, invokestatic save (IJLjava/lang/Object;)V
    return

static-method saveJ (JI)V
    iload 2, lload 0, aconst_null, invokestatic save (IJLjava/lang/Object;)V
    return

static-method saveF (FI)V
    iload 1, fload 0, invokestatic java/lang/Float floatToRawIntBits (F)I, i2l, aconst_null
    invokestatic save (IJLjava/lang/Object;)V
    return

static-method saveD (DI)V
    iload 2, dload 0, invokestatic java/lang/Double doubleToRawLongBits (D)J, aconst_null
    invokestatic save (IJLjava/lang/Object;)V
    return

static-method saveL (Ljava/lang/Object;I)V
    iload 1, lconst_0, aload 0, invokestatic save (IJLjava/lang/Object;)V
    return

static-method exit (I)V
    getstatic exits, iconst_1, iadd, putstatic exits
    new rethrow/rt/Exit, dup, iload 0, invokespecial rethrow/rt/Exit <init> (I)V, athrow

static-method exit (Ljava/lang/Runtime;I)V
    # a null receiver throws as it did
    aload 0, invokevirtual java/lang/Object getClass ()Ljava/lang/Class;, pop
    iload 1, invokestatic exit (I)V
    return
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classfile::ClassFile;

    #[test]
    fn all_classes_assemble_and_parse() {
        for (name, bytes) in probe_classes() {
            let class = ClassFile::parse(&bytes).unwrap();
            assert_eq!(class.name(), name);
            for method in &class.methods {
                let Some(code) = method.code(&class.pool) else {
                    continue;
                };
                assert!(code.unwrap().instructions().all(|op| op.is_ok()), "{name}.{}", method.name);
            }
        }
    }
}
