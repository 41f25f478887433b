import org.locationtech.jts.geom.*;
import org.locationtech.jts.io.*;

/** Validity of a collection with an empty polygon: https://github.com/locationtech/jts/issues/356 */
public class Trigger {
    public static void main(String[] args) throws Throwable {
        Geometry g = new WKTReader().read("MULTIPOLYGON (((30 10, 40 40, 20 40, 10 20, 30 10)), EMPTY)");
        System.out.println(g.isValid());
    }
}
