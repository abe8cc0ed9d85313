"""When a request is sent again, and after which wait."""

from __future__ import annotations

import re
import time
from email.utils import parsedate_to_datetime

import httpx

# POST operations that create something or start work: sent twice, they would do it twice.
_WRITES = re.compile(r"/(create|promote|upload|token)$")


def is_repeatable(method: str, path: str) -> bool:
    """Whether an operation has the same result when sent twice."""
    return method != "POST" or _WRITES.search(path) is None


def wait_sec(response: httpx.Response | None, repeatable: bool, retry: int) -> float | None:
    """The seconds to wait before sending a request again; None if it is not sent again.

    429 says that the request was not processed. 502, 503, 504 and a lost connection (None) leave it open.
    """
    status = None if response is None else response.status_code
    if status != 429 and not (repeatable and status in (None, 502, 503, 504)):
        return None
    wait = None if response is None else retry_after_sec(response)
    return 0.5 * 2**retry if wait is None else wait


def done_before(method: str, may_be_done: bool, response: httpx.Response) -> httpx.Response:
    """The response, or success for a repeated DELETE that finds nothing: it succeeded the first time."""
    if method != "DELETE" or not may_be_done or response.status_code != 404:
        return response
    try:
        body = response.json()
    except ValueError:
        # A proxy's page.
        return response
    is_not_found = isinstance(body, dict) and body.get("error") == "not_found"
    return httpx.Response(200, json={"success": True}) if is_not_found else response


def retry_after_sec(response: httpx.Response) -> float | None:
    """The wait that a response asks for."""
    header = response.headers.get("Retry-After")
    if header is None:
        return None
    if header.isdecimal():
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None
