"""Receives webhooks from Parley. Needs only Python 3.9 or newer:

    HOOK_SECRET=whsec_… PORT=8080 python3 receive_hooks.py

Without HOOK_SECRET it accepts only the reachability test, so that you can create the hook and copy its secret.
"""

import base64
import hashlib
import hmac
import json
import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("HOOK_SECRET", "")
PORT = int(os.environ.get("PORT", "8080"))

TOLERANCE_SEC = 5 * 60
MAX_BODY_BYTES = 20 * 1024 * 1024

# Ids of processed messages. Keep them in your database, with a unique index, for a week.
handled = set()
lock = threading.Lock()


def handle(message_id, event):
    """Put your work into a queue here and return quickly: after 15 seconds the delivery counts as failed."""
    print(event["type"], message_id, flush=True)


def find_problem(headers, raw):
    """The error in the signature, or None (Standard Webhooks: HMAC-SHA256 over "id.timestamp.body")."""
    message_id = headers.get("webhook-id")
    timestamp = headers.get("webhook-timestamp")
    signatures = headers.get("webhook-signature")
    if not message_id or not timestamp or not signatures:
        return "not signed"
    # Rejects old messages, so that captured ones can't be replayed.
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > TOLERANCE_SEC:
        return "too old, or the clocks differ"
    key = base64.b64decode(SECRET[len("whsec_"):] if SECRET.startswith("whsec_") else SECRET)
    if not key:
        return "no secret is set here"
    signed = f"{message_id}.{timestamp}.".encode() + raw
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    # While a secret is rotated there are two signatures; one match is enough.
    for signature in signatures.split(" "):
        version, _, value = signature.partition(",")
        if version == "v1" and hmac.compare_digest(value.encode(), expected):
            return None
    return "wrong signature"


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_POST(self):
        size = int(self.headers.get("content-length", "0"))
        if size > MAX_BODY_BYTES:
            self.close_connection = True
            return self.reply(413, "too large")
        # The signature covers the bytes as received. Parse them only after verifying it.
        raw = self.rfile.read(size)
        # The reachability test, sent unsigned when a hook is created: no secret exists yet.
        if raw == b"{}":
            return self.reply(200, "ready")
        problem = find_problem(self.headers, raw)
        if problem is not None:
            return self.reply(401, problem)
        message_id = self.headers["webhook-id"]
        try:
            with lock:
                if message_id in handled:
                    return self.reply(200, "known")
                handle(message_id, json.loads(raw))
                # Last, so that the message is sent again if handling it fails.
                handled.add(message_id)
        except Exception as error:
            print(error, file=sys.stderr)
            return self.reply(500, "try again")
        self.reply(200, "ok")

    def reply(self, status, text):
        body = text.encode()
        self.send_response(status)
        self.send_header("content-type", "text/plain")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """The standard log has a line for every request."""


server = ThreadingHTTPServer(("", PORT), Receiver)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print(f"listening on port {server.server_port}", flush=True)
try:
    server.serve_forever()
except KeyboardInterrupt:
    pass
