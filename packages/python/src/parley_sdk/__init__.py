"""Client of Parley, the self-hosted meeting recording service."""

from .async_client import API_VERSION, AsyncParley
from .errors import ParleyError, UploadFailedError
from .generated import types
from .generated.types import WebhookEvent
from .sync_client import Parley
from .webhooks import Message, WebhookVerificationError, verify_webhook

__all__ = [
    "API_VERSION",
    "AsyncParley",
    "Message",
    "Parley",
    "ParleyError",
    "UploadFailedError",
    "WebhookEvent",
    "WebhookVerificationError",
    "types",
    "verify_webhook",
]
