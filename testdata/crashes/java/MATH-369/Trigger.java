import org.apache.commons.math.analysis.polynomials.PolynomialFunction;
import org.apache.commons.math.analysis.solvers.BisectionSolver;

/** BisectionSolver.solve with a start value forgets the function: https://issues.apache.org/jira/browse/MATH-369 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        new BisectionSolver().solve(new PolynomialFunction(new double[] {-1, 1}), 0.0, 3.0, 1.5);
    }
}
