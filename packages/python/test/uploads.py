"""Uploads that were interrupted or go wrong. Arguments: ids of uploads of MEETING of which a part has arrived."""

import asyncio
import os
import sys
import time

import httpx

from parley_sdk import AsyncParley, Parley

URL, TOKEN = os.environ["PARLEY_URL"], os.environ["PARLEY_TOKEN"]
MEETING = os.environ["MEETING"]
BEGUN, BEGUN_ASYNC = sys.argv[1:]
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


def check_other_files() -> None:
    with Parley(URL, TOKEN) as parley:
        for other in OTHERS:
            try:
                parley.upload_file(other, resume=BEGUN)
                raise AssertionError("resumed")
            except ValueError as error:
                assert "resume it with the same file" in str(error), error
            assert parley.get_upload(BEGUN)["status"] == "awaiting"
        parley.upload_file(MEETING, resume=BEGUN)
        assert parley.get_upload(BEGUN)["status"] != "awaiting"


async def check_other_files_async() -> None:
    async with AsyncParley(URL, TOKEN) as parley:
        for other in OTHERS:
            try:
                await parley.upload_file(other, resume=BEGUN_ASYNC)
                raise AssertionError("resumed")
            except ValueError as error:
                assert "resume it with the same file" in str(error), error
        assert (await parley.upload_file(MEETING, resume=BEGUN_ASYNC))["status"] != "awaiting"


def check_no_progress() -> None:
    """A server that accepts chunks and stores nothing of them is not asked without end."""
    methods: list[str] = []

    def respond(request: httpx.Request) -> httpx.Response:
        if request.url.path != "/tus":
            media = {"status": "awaiting", "upload": {"tus_url": "http://parley.test/tus"}}
            return httpx.Response(200, json={"id": "upload", "media": media})
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
check_other_files()
asyncio.run(check_other_files_async())
check_no_progress()
print("uploads checked")
