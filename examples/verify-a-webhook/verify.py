import hashlib
import hmac
import time


def is_from_tollgate(headers, body, secret):
    timestamp = headers.get("tollgate-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit()) or abs(time.time() - int(timestamp)) >= 300:
        return False
    signed = timestamp.encode() + b"." + body
    expected = "v1=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    return hmac.compare_digest(headers.get("tollgate-signature", "").encode(), expected.encode())
