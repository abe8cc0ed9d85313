"""Receives hooks of Parley, with nothing but Python (3.9 or newer):

    HOOK_SECRET=whsec_… PORT=8080 python3 receive_hooks.py

Without HOOK_SECRET it answers the reachability test alone, so that a hook can be created and its secret copied.
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

# Ids of messages that were handled. Keep them in your database, with a unique index, for a week.
handled = set()
lock = threading.Lock()


def handle(message_id, event):
    """Put your own work into a queue here, and return quickly: what takes longer than 15 seconds counts as failed."""
    print(event["type"], message_id, flush=True)


def find_problem(headers, raw):
    """What is wrong with the signature, or None (Standard Webhooks: HMAC-SHA256 over "id.timestamp.body")."""
    message_id = headers.get("webhook-id")
    timestamp = headers.get("webhook-timestamp")
    signatures = headers.get("webhook-signature")
    if not message_id or not timestamp or not signatures:
        return "not signed"
    # A message that someone has recorded must not be good for ever.
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > TOLERANCE_SEC:
        return "too old, or the clocks differ"
    key = base64.b64decode(SECRET[len("whsec_"):] if SECRET.startswith("whsec_") else SECRET)
    if not key:
        return "no secret is set here"
    signed = f"{message_id}.{timestamp}.".encode() + raw
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    # While a secret is being replaced there are two signatures; one that fits is enough.
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
            return self.answer(413, "too large")
        # The signature covers the bytes as they came. Parse them only after it was checked.
        raw = self.rfile.read(size)
        # The reachability test: there is no secret yet when a hook is created, and nothing to be done.
        if raw == b"{}":
            return self.answer(200, "ready")
        problem = find_problem(self.headers, raw)
        if problem is not None:
            return self.answer(401, problem)
        message_id = self.headers["webhook-id"]
        try:
            with lock:
                if message_id in handled:
                    return self.answer(200, "known")
                handle(message_id, json.loads(raw))
                # Only now: when handling fails, the message has to come again.
                handled.add(message_id)
        except Exception as error:
            print(error, file=sys.stderr)
            return self.answer(500, "try again")
        self.answer(200, "ok")

    def answer(self, status, text):
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
