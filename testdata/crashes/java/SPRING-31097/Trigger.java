import org.springframework.expression.spel.standard.*;

/** An expression that is one bracket: https://github.com/spring-projects/spring-framework/issues/31097 */
public class Trigger {
    public static void main(String[] args) throws Throwable {
        new SpelExpressionParser().parseExpression(")");
    }
}
