"""The client of a Parley server."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, BinaryIO, Literal
from urllib.parse import quote

import httpx

from .errors import ParleyError, UploadFailedError
from .generated.api import AsyncApi
from .generated.types import (
    Recording,
    RecordingFilter,
    RecordingInclude,
    TokenResponse,
    Upload,
    UploadAttributesInput,
    UploadFilter,
    UploadInclude,
)
from .retry import done_before, is_repeatable, wait_sec
from .uploads import (
    TUS_HEADERS,
    Progress,
    Sending,
    check,
    check_size,
    chunk_headers,
    media_type_of,
    read_chunk,
    read_offset,
)

API_VERSION = "2026-10-01"


class AsyncParley(AsyncApi):
    """A client of one Parley server. Each operation of the API is a method; see ``/docs`` of your server.

    base_url: address of the server, such as ``https://parley.example.com``.
    token: an access token, or a function that returns one; it is called for each request.
    max_retries: how often a request is sent again after 429 and, where that is safe, 503 and lost connections.
    max_wait_sec: the longest wait before a retry; the error of a response that asks for more is raised.
    client: the httpx client to use instead of one of its own; it is not closed.
    Methods raise ParleyError for error responses.
    """

    def __init__(
        self,
        base_url: str,
        token: str | Callable[[], Awaitable[str]],
        *,
        max_retries: int = 4,
        max_wait_sec: float = 60,
        client: httpx.AsyncClient | None = None,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._token = token
        self._max_retries = max_retries
        self._max_wait_sec = max_wait_sec
        self._owns_client = client is None
        self._http = client or httpx.AsyncClient(timeout=httpx.Timeout(60))

    async def __aenter__(self) -> AsyncParley:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes the connections."""
        if self._owns_client:
            await self._http.aclose()

    async def oauth_token(
        self,
        *,
        grant_type: Literal["authorization_code", "refresh_token"],
        client_id: str,
        client_secret: str | None = None,
        code: str | None = None,
        code_verifier: str | None = None,
        redirect_uri: str | None = None,
        refresh_token: str | None = None,
        resource: str | None = None,
    ) -> TokenResponse:
        """Exchanges an authorization code or a refresh token for tokens. Needs no access token.

        It is sent once, because a code can be used once; a lost response can be asked for again with the same refresh
        token within 30 seconds.
        """
        body = {
            "grant_type": grant_type,
            "client_id": client_id,
            "client_secret": client_secret,
            "code": code,
            "code_verifier": code_verifier,
            "redirect_uri": redirect_uri,
            "refresh_token": refresh_token,
            "resource": resource,
        }
        return (await self._post_form("token", body)).json()

    async def oauth_revoke(self, *, token: str, client_id: str, client_secret: str | None = None) -> None:
        """Revokes an access token or a refresh token with all tokens of its authorization. Needs no access token."""
        await self._post_form("revoke", {"token": token, "client_id": client_id, "client_secret": client_secret})

    async def _post_form(self, endpoint: str, body: dict[str, str | None]) -> httpx.Response:
        data = {name: value for name, value in body.items() if value is not None}
        return check(await self._http.post(f"{self._base_url}/_/public-api/oauth2/{endpoint}", data=data))

    async def _headers(self) -> dict[str, str]:
        token = await self._token() if callable(self._token) else self._token
        return {"Authorization": f"Bearer {token}", "Public-Api-Version": API_VERSION}

    async def _request(
        self, method: str, path: str, body: dict[str, Any] | None, *, stream: bool = False
    ) -> httpx.Response:
        """Sends a request, again where that is safe. A stream follows redirects, and has to be closed."""
        json = None if body is None else {name: value for name, value in body.items() if value is not None}
        repeatable = is_repeatable(method, path)
        retry = 0
        may_be_done = False
        while True:
            response = None
            try:
                headers = await self._headers()
                request = self._http.build_request(method, self._base_url + path, json=json, headers=headers)
                response = await self._http.send(request, stream=stream, follow_redirects=stream)
                if not response.is_success:
                    await response.aread()
            except httpx.TransportError:
                response = None
                if retry >= self._max_retries or not repeatable:
                    raise
            wait = wait_sec(response, repeatable, retry)
            if response is not None and (wait is None or wait > self._max_wait_sec or retry >= self._max_retries):
                return check(done_before(method, may_be_done, response))
            may_be_done = may_be_done or response is None or response.status_code != 429
            retry += 1
            await asyncio.sleep(wait or 0)

    async def _request_json(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        return (await self._request(method, path, body)).json()

    async def _request_text(self, method: str, path: str, body: dict[str, Any] | None = None) -> str:
        return (await self._request(method, path, body)).text

    async def recordings(
        self, *, filter: RecordingFilter | None = None, include: RecordingInclude | None = None
    ) -> AsyncIterator[Recording]:
        """Every recording that the token can see and the filter matches, newest first, page after page."""
        cursor: str | None = None
        while True:
            page = await self.list_recordings(cursor=cursor, filter=filter, include=include)
            for recording in page["recordings"]:
                yield recording
            cursor = page["cursor"]
            if cursor is None:
                return

    async def uploads(
        self, *, filter: UploadFilter | None = None, include: UploadInclude | None = None
    ) -> AsyncIterator[Upload]:
        """Every upload that the token can see and the filter matches, newest first, page after page."""
        cursor: str | None = None
        while True:
            page = await self.list_uploads(cursor=cursor, filter=filter, include=include)
            for upload in page["uploads"]:
                yield upload
            cursor = page["cursor"]
            if cursor is None:
                return

    async def upload_file(
        self,
        path: str | os.PathLike[str],
        *,
        attributes: UploadAttributesInput | None = None,
        media_type: Literal["video", "audio"] | None = None,
        auto_promote: bool | None = None,
        resume: str | None = None,
        on_create: Callable[[Upload], None] | None = None,
        on_progress: Progress | None = None,
        chunk_bytes: int | None = None,
    ) -> Upload:
        """Uploads a video or audio file in chunks. If it is interrupted, call it again with ``resume``.

        resume: the id of an upload of the same file that was interrupted; only the rest is sent.
        on_create: called with the new upload before anything is sent. Store its id to be able to resume.
        on_progress: called with the bytes sent and the file's size.
        Returns the upload once the file has arrived; ``wait_for_recording`` waits for the recording.
        Raises UploadFailedError if the upload to resume accepts no file any more.
        """
        if resume is None:
            kind = media_type or media_type_of(path)
            upload = await self.create_upload(media_type=kind, auto_promote=auto_promote, attributes=attributes)
            if on_create is not None:
                on_create(upload)
        else:
            upload = await self.get_upload(resume)
        if upload["status"] == "failure":
            raise _failure_of(upload)
        media = upload.get("media")
        # An upload that is resumed may have arrived already.
        if media is not None and (media["status"] == "awaiting" or media["status"] == "url_expired"):
            try:
                with open(path, "rb") as file:
                    await self._send(media["upload"]["tus_url"], file, on_progress, Sending(chunk_bytes, self._max_wait_sec))
            except ParleyError as error:
                # The rest of a file is accepted after the URL has expired, but not for long.
                if media["status"] == "url_expired" and error.status == 403:
                    reason = "the upload's URL has expired; upload the file again"
                    raise UploadFailedError(upload["id"], reason) from error
                raise
        return await self.get_upload(upload["id"])

    async def _send(self, url: str, file: BinaryIO, on_progress: Progress | None, sending: Sending) -> None:
        size = file.seek(0, os.SEEK_END)
        while True:
            try:
                if sending.offset is None:
                    sending.offset = await self._find_offset(url, size)
                if on_progress is not None:
                    on_progress(sending.offset, size)
                if sending.offset == size:
                    return
                chunk = read_chunk(file, sending.offset, sending.chunk_bytes)
                response = await self._http.patch(url, content=chunk, headers=chunk_headers(sending.offset))
                sending.arrived(read_offset(check(response)))
            except (httpx.TransportError, ParleyError) as error:
                await asyncio.sleep(sending.failed(error))

    async def _find_offset(self, url: str, size: int) -> int:
        """Asks how much has arrived; announces the file if nothing has. Raises ValueError if another size was announced."""
        response = await self._http.head(url, headers=TUS_HEADERS)
        if response.status_code != 404:
            check_size(check(response), size)
            return read_offset(response)
        check(await self._http.post(url, headers={**TUS_HEADERS, "Upload-Length": str(size)}))
        return 0

    async def wait_for_recording(self, upload_id: str, *, poll_sec: float = 2) -> str:
        """Waits until an upload has become a recording, and returns the recording's id.

        Raises UploadFailedError with the reason if the upload fails.
        """
        while True:
            upload = await self.get_upload(upload_id)
            if upload["recording_id"] is not None:
                return upload["recording_id"]
            if upload["status"] == "failure":
                raise _failure_of(upload)
            await asyncio.sleep(poll_sec)

    async def download(self, recording_id: str, path: str | os.PathLike[str]) -> None:
        """Downloads a recording's media file to a path. Raises ParleyError with code ``not_found`` if it has none."""
        url = f"/_/public-api/v2/recordings/{quote(recording_id, safe='')}/download"
        response = await self._request("GET", url, None, stream=True)
        try:
            with open(path, "wb") as file:
                async for part in response.aiter_bytes():
                    file.write(part)
        finally:
            await response.aclose()


def _failure_of(upload: Upload) -> UploadFailedError:
    failure = upload.get("failure")
    return UploadFailedError(upload["id"], failure["reason"] if failure else "the upload failed")
