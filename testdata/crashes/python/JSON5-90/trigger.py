import json5
import io
json5.load(io.BytesIO(b"--6.0"))
