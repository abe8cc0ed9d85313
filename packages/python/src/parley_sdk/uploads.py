"""What the two clients share about sending files in chunks with tus 1.0."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, BinaryIO, Literal

import httpx

from .errors import ParleyError
from .retry import retry_after_sec

DEFAULT_CHUNK_BYTES = 32 * 1024 * 1024
MIN_CHUNK_BYTES = 256 * 1024
# Sending ends with the error after this many failures in a row.
MAX_FAILURES = 8
TUS_HEADERS = {"Tus-Resumable": "1.0.0"}

Progress = Callable[[int, int], None]


def media_type_of(path: str | os.PathLike[str]) -> Literal["video", "audio"]:
    """Audio if the file is named .mp3 or begins like an MP3: with ID3, or with a frame of MPEG layer 3."""
    if os.fspath(path).lower().endswith(".mp3"):
        return "audio"
    with open(path, "rb") as file:
        start = file.read(3)
    is_frame = len(start) > 1 and start[0] == 0xFF and start[1] & 0xE6 == 0xE2
    return "audio" if start == b"ID3" or is_frame else "video"


def chunk_headers(offset: int) -> dict[str, str]:
    return {**TUS_HEADERS, "Content-Type": "application/offset+octet-stream", "Upload-Offset": str(offset)}


def read_chunk(file: BinaryIO, offset: int, size: int) -> bytes:
    file.seek(offset)
    return file.read(size)


def read_offset(response: httpx.Response) -> int:
    header = response.headers.get("Upload-Offset", "")
    if not header.isdecimal() or len(header) > 16:
        raise RuntimeError("the response has no valid Upload-Offset header; is this a Parley server?")
    return int(header)


def check_size(response: httpx.Response, size: int) -> None:
    """Raises ValueError if the upload was begun with a file of another size."""
    announced = response.headers.get("Upload-Length")
    if announced != str(size):
        raise ValueError(
            f"the file has {size} bytes, but the upload was begun with {announced or 'an unknown number of'} bytes;"
            " resume it with the same file"
        )


def check(response: httpx.Response) -> httpx.Response:
    """Raises ParleyError for an error response."""
    if response.is_success:
        return response
    raise ParleyError(response.status_code, read_json(response), retry_after_sec(response))


def read_json(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError:
        # A proxy's page.
        return None


class Sending:
    """Where the sending of one file is, and what its errors mean."""

    def __init__(self, chunk_bytes: int | None, max_wait_sec: float) -> None:
        self.chunk_bytes = chunk_bytes or DEFAULT_CHUNK_BYTES
        self.offset: int | None = None
        self._max_wait_sec = max_wait_sec
        self._failures = 0

    def arrived(self, offset: int) -> None:
        if self.offset is not None and offset <= self.offset:
            raise httpx.RemoteProtocolError("the server stored nothing of a chunk")
        self.offset = offset
        self._failures = 0

    def failed(self, error: Exception) -> float:
        """The seconds to wait before the next try, which first asks how much has arrived. Raises the error if it is final."""
        if isinstance(error, ParleyError):
            # A proxy's 413 has no code.
            if error.status == 413 and error.code is None and self.chunk_bytes > MIN_CHUNK_BYTES:
                self.chunk_bytes = max(MIN_CHUNK_BYTES, self.chunk_bytes // 2)
            elif error.status < 500 and error.status not in (408, 409, 423, 429):
                raise error
        self._failures += 1
        asked = (error.retry_after_sec or 0.0) if isinstance(error, ParleyError) else 0.0
        if self._failures > MAX_FAILURES or asked > self._max_wait_sec:
            raise error
        self.offset = None
        return max(min(0.25 * 2**self._failures, 15.0), asked)
