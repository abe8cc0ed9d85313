"""Uploads that were interrupted or go wrong.

Arguments: ids of uploads of MEETING, twice: begun; begun, its URL expired; not begun, its URL expired; failed.
"""

import asyncio
import os
import sys
import time
from collections.abc import Callable

import httpx

from parley_sdk import AsyncParley, Parley, ParleyError, UploadFailedError, types

URL, TOKEN = os.environ["PARLEY_URL"], os.environ["PARLEY_TOKEN"]
MEETING = os.environ["MEETING"]
WAITS: list[float] = []

with open(MEETING, "rb") as file:
    CONTENT = file.read()


def write(name: str, content: bytes) -> str:
    with open(name, "wb") as other:
        other.write(content)
    return name


# Shorter than what has arrived, shorter than announced, and longer.
OTHERS = [
    write("short.mp3", CONTENT[:10_000]),
    write("shorter.mp3", CONTENT[:45_000]),
    write("longer.mp3", CONTENT + b"more"),
]


def check_resume(begun: str, expired: str, never_begun: str, failed: str) -> None:
    with Parley(URL, TOKEN) as parley:
        for other in OTHERS:
            try:
                parley.upload_file(other, resume=begun)
                raise AssertionError("resumed")
            except ValueError as error:
                assert "resume it with the same file" in str(error), error
            assert parley.get_upload(begun)["status"] == "awaiting"
        assert parley.upload_file(MEETING, resume=begun)["status"] != "awaiting"
        # The rest of a file is accepted when the URL has expired, and nothing else is.
        assert parley.upload_file(MEETING, resume=expired)["status"] != "awaiting"
        for resume, reason in [(never_begun, "URL has expired"), (failed, "the file is empty")]:
            try:
                parley.upload_file(MEETING, resume=resume)
                raise AssertionError("resumed")
            except UploadFailedError as failure:
                assert reason in str(failure), failure


async def check_resume_async(begun: str, expired: str, never_begun: str, failed: str) -> None:
    async with AsyncParley(URL, TOKEN) as parley:
        for other in OTHERS:
            try:
                await parley.upload_file(other, resume=begun)
                raise AssertionError("resumed")
            except ValueError as error:
                assert "resume it with the same file" in str(error), error
        assert (await parley.upload_file(MEETING, resume=begun))["status"] != "awaiting"
        assert (await parley.upload_file(MEETING, resume=expired))["status"] != "awaiting"
        for resume, reason in [(never_begun, "URL has expired"), (failed, "the file is empty")]:
            try:
                await parley.upload_file(MEETING, resume=resume)
                raise AssertionError("resumed")
            except UploadFailedError as failure:
                assert reason in str(failure), failure


def broken_server(respond: Callable[[int], httpx.Response]) -> tuple[Parley, list[str]]:
    """A server whose upload URL responds to the first, second, … request as ``respond`` says, and its methods."""
    methods: list[str] = []

    def handle(request: httpx.Request) -> httpx.Response:
        if request.url.path != "/tus":
            media = {"status": "awaiting", "upload": {"tus_url": "http://parley.test/tus"}}
            return httpx.Response(200, json={"id": "upload", "status": "awaiting", "media": media})
        methods.append(request.method)
        return respond(len(methods))

    WAITS.clear()
    return Parley("http://parley.test", "t", client=httpx.Client(transport=httpx.MockTransport(handle))), methods


def offset_of(offset: int) -> httpx.Response:
    return httpx.Response(200, headers={"Upload-Offset": str(offset), "Upload-Length": str(len(CONTENT))})


def check_no_progress() -> None:
    """A server that accepts chunks and stores nothing of them is not asked without end."""
    parley, methods = broken_server(lambda _count: offset_of(0))
    try:
        parley.upload_file(MEETING)
        raise AssertionError("no error")
    except httpx.RemoteProtocolError:
        assert len(methods) < 30 and len(WAITS) == 8, (methods, WAITS)


def check_busy() -> None:
    """A busy server is asked again when it says, unless that is too late."""
    busy = httpx.Response(503, headers={"Retry-After": "30"})
    parley, methods = broken_server(lambda count: busy if count < 3 else offset_of(len(CONTENT)))
    parley.upload_file(MEETING)
    assert WAITS == [30, 30], WAITS
    parley, methods = broken_server(lambda _count: httpx.Response(503, headers={"Retry-After": "7200"}))
    try:
        parley.upload_file(MEETING)
        raise AssertionError("no error")
    except ParleyError as error:
        assert error.retry_after_sec == 7200 and len(methods) == 1, (error, methods)


class Enough(Exception):
    pass


def check_media_type() -> None:
    """An MP3 is recognized by its content: with ID3, and without it."""
    after_id3 = 10 + sum(size << shift for size, shift in zip(CONTENT[6:10], (21, 14, 7, 0)))

    def note(upload: types.Upload) -> None:
        media_types.append(upload["media_type"])
        raise Enough

    media_types: list[str] = []
    with Parley(URL, TOKEN) as parley:
        for content in [CONTENT, CONTENT[after_id3:], b"\0\0\0\x20", b""]:
            try:
                parley.upload_file(write("unnamed", content), on_create=note)
            except Enough:
                pass
    assert media_types == ["audio", "audio", "video", "video"], media_types


# Tests run no longer than the program waits.
setattr(time, "sleep", WAITS.append)
check_resume(*sys.argv[1:5])
asyncio.run(check_resume_async(*sys.argv[5:9]))
check_no_progress()
check_busy()
check_media_type()
print("uploads checked")
