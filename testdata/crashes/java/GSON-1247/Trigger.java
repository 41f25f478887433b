import com.google.gson.*;
import java.util.*;

/** A map whose keys are maps: https://github.com/google/gson/issues/1247 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        new Gson().fromJson("[[{},null],false,false]", Map.class);
    }
}
