import com.google.gson.*;
import com.google.gson.internal.bind.JsonTreeReader;

/** JsonTreeReader.skipValue of the outermost value: https://github.com/google/gson/issues/1013 */
public class Trigger {
    public static void main(String[] args) throws Exception {
        new JsonTreeReader(new JsonObject()).skipValue();
    }
}
