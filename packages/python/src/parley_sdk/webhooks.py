"""Verifies requests of webhooks."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import NamedTuple

from .generated.types import WebhookEvent


class Message(NamedTuple):
    """A verified request. It may arrive twice with the same id: skip the ids that were processed."""

    id: str
    event: WebhookEvent


class WebhookVerificationError(Exception):
    """A request that did not come from Parley, or was captured and sent again. Return 401."""


def verify_webhook(body: bytes, headers: Mapping[str, str], secret: str, *, tolerance_sec: int = 300) -> Message:
    """Checks the signature of a webhook's request (Standard Webhooks: HMAC-SHA256 over ``id.timestamp.body``).

    body: byte for byte as received, before JSON is parsed. secret: the webhook's signing secret, ``whsec_…``.
    Raises WebhookVerificationError if the signature or its time is wrong.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    message_id = lower.get("webhook-id")
    timestamp = lower.get("webhook-timestamp")
    signatures = lower.get("webhook-signature")
    if not message_id or not timestamp or not signatures:
        raise WebhookVerificationError("the request is not signed")
    # Bounded, because int() of a long text takes long.
    if not (timestamp.isdecimal() and len(timestamp) < 16 and abs(time.time() - int(timestamp)) <= tolerance_sec):
        raise WebhookVerificationError("the request is too old, or the clocks of the two machines differ")
    expected = hmac.new(_key(secret), f"{message_id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    # While a secret is rotated there are two signatures.
    for signature in signatures.split(" "):
        scheme, _, value = signature.partition(",")
        if scheme == "v1" and hmac.compare_digest(_decode(value), expected):
            return Message(message_id, json.loads(body))
    raise WebhookVerificationError("the signature does not match: is this the secret of this webhook?")


def _key(secret: str) -> bytes:
    key = _decode(secret[len("whsec_") :]) if secret.startswith("whsec_") else b""
    if not key:
        raise ValueError("the secret must begin with whsec_")
    return key


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
