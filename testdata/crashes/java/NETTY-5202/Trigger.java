import io.netty.handler.codec.http.*;
import io.netty.handler.codec.http.multipart.*;
import io.netty.buffer.Unpooled;

/** A form with an empty field: https://github.com/netty/netty/issues/5202 */
public class Trigger {
    public static void main(String[] args) throws Throwable {
        String payload = "town=794649819&&town=784444184";
        DefaultHttpRequest req = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/");
        HttpPostRequestDecoder decoder = new HttpPostRequestDecoder(req);
        decoder.offer(new DefaultLastHttpContent(Unpooled.wrappedBuffer(payload.getBytes())));
    }
}
