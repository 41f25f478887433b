import cn.hutool.core.math.Calculator;

/** Brackets that are followed by a sign: https://github.com/chinabugotech/hutool/issues/1984 */
public class Trigger {
    public static void main(String[] args) throws Throwable {
        System.out.println(Calculator.conversion("((1/1) / (1/1)  -1) *100"));
    }
}
