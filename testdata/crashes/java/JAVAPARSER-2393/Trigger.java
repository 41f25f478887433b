import com.github.javaparser.*;
import com.github.javaparser.ast.*;
import com.github.javaparser.ast.stmt.*;
import com.github.javaparser.printer.lexicalpreservation.*;

/** A condition is exchanged where the text is preserved: https://github.com/javaparser/javaparser/issues/2393 */
public class Trigger {
    public static void main(String[] args) throws Throwable {
        CompilationUnit cu = StaticJavaParser.parse("public class Test { public void foo() { int i = 0;\nif(i == 5) { System.out.println(i); } } }");
        LexicalPreservingPrinter.setup(cu);
        IfStmt ifStmt = cu.findFirst(IfStmt.class).get();
        ifStmt.setCondition(StaticJavaParser.parseExpression("i > 0"));
    }
}
