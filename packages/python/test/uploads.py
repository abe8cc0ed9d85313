"""Uploads that were interrupted or go wrong.

Arguments: ids of uploads of MEETING, twice: begun; begun, its URL expired; not begun, its URL expired; failed.
"""

import asyncio
import os
import sys
import time

import httpx

from parley_sdk import AsyncParley, Parley, UploadFailedError

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


def check_no_progress() -> None:
    """A server that accepts chunks and stores nothing of them is not asked without end."""
    methods: list[str] = []

    def respond(request: httpx.Request) -> httpx.Response:
        if request.url.path != "/tus":
            media = {"status": "awaiting", "upload": {"tus_url": "http://parley.test/tus"}}
            return httpx.Response(200, json={"id": "upload", "status": "awaiting", "media": media})
        methods.append(request.method)
        return httpx.Response(200, headers={"Upload-Offset": "0", "Upload-Length": str(len(CONTENT))})

    WAITS.clear()
    with Parley("http://parley.test", "t", client=httpx.Client(transport=httpx.MockTransport(respond))) as parley:
        try:
            parley.upload_file(MEETING)
            raise AssertionError("no error")
        except httpx.RemoteProtocolError:
            assert len(methods) < 30 and len(WAITS) == 8, (methods, WAITS)


# Tests run no longer than the program waits.
time.sleep = WAITS.append
check_resume(*sys.argv[1:5])
asyncio.run(check_resume_async(*sys.argv[5:9]))
check_no_progress()
print("uploads checked")
