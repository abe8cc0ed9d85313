"""Errors of the client."""

from __future__ import annotations

from typing import Any


class ParleyError(Exception):
    """An error response of the server.

    status: HTTP status.
    code: machine-readable code, such as ``not_found``; None if the response was not Parley's, but for example a proxy's.
    violations: every invalid value of the request, each with ``pointer`` and ``detail``.
    request_id: identifies the request in the server's log.
    retry_after_sec: seconds after which the server asks for the next try; None if it didn't say.
    """

    def __init__(self, status: int, body: Any, retry_after_sec: float | None = None) -> None:
        problem = body if isinstance(body, dict) and "error" in body else {}
        self.status = status
        self.code: str | None = problem.get("error")
        self.violations: list[dict[str, str]] = problem.get("violations") or []
        self.request_id: str | None = problem.get("request_id")
        self.retry_after_sec = retry_after_sec
        lines = [problem.get("detail") or problem.get("error_description") or f"the server returned {status}"]
        lines += [f"{violation['pointer']} {violation['detail']}".strip() for violation in self.violations]
        super().__init__("\n".join(lines))


class UploadFailedError(Exception):
    """An upload whose status became ``failure``, or whose URL has expired. The message is the reason."""

    def __init__(self, upload_id: str, reason: str) -> None:
        super().__init__(reason)
        self.upload_id = upload_id
