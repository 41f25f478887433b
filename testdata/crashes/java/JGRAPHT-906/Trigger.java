import org.jgrapht.*;
import org.jgrapht.graph.*;
import org.jgrapht.alg.planar.*;

/** A subdivision of a large complete graph: https://github.com/jgrapht/jgrapht/issues/906 */
public class Trigger {
    public static void main(String[] args) throws Throwable {
        Graph<Integer, DefaultEdge> g = new SimpleGraph<>(DefaultEdge.class);
        for (int i = 0; i < 11; i++) g.addVertex(i);
        for (int i = 0; i < 11; i++) for (int j = i + 1; j < 11; j++) g.addEdge(i, j);
        new BoyerMyrvoldPlanarityInspector<>(g).getKuratowskiSubdivision();
    }
}
