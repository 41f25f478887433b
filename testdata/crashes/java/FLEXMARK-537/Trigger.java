import com.vladsch.flexmark.parser.Parser;
import com.vladsch.flexmark.ext.resizable.image.ResizableImageExtension;

/** The extension for image sizes reads past the end of the text: https://github.com/vsch/flexmark-java/issues/537 */
public class Trigger {
    public static void main(String[] args) throws Throwable {
        Parser.builder().extensions(java.util.Arrays.asList(ResizableImageExtension.create())).build().parse("Hello **World**!");
    }
}
