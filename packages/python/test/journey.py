"""Uses the package as an app does: every operation, with both clients, against the server at PARLEY_URL."""

import asyncio
import json
import os
from typing import get_args, get_type_hints

import httpx

from parley_sdk import (
    AsyncParley,
    Parley,
    ParleyError,
    WebhookEvent,
    WebhookVerificationError,
    types,
    verify_webhook,
)

URL, TOKEN = os.environ["PARLEY_URL"] + "/", os.environ["PARLEY_TOKEN"]
MEETING = os.environ["MEETING"]
SIZE = os.path.getsize(MEETING)


class Interrupted(Exception):
    pass


def check_sync() -> None:
    with Parley(URL, lambda: TOKEN) as parley:
        token = parley.token_info()
        assert token["scope"] == "personal"
        user = next(user for user in parley.list_users()["users"] if user["id"] == token["user_id"])
        team = parley.list_teams()["teams"][0]
        assert isinstance(parley.list_meeting_types()["meeting_types"], list)

        # A file in small chunks, interrupted once and resumed.
        created: list[str] = []
        sent: list[int] = []

        def interrupt(bytes_sent: int, _size: int) -> None:
            sent.append(bytes_sent)
            if bytes_sent > 0:
                raise Interrupted

        try:
            parley.upload_file(
                MEETING,
                auto_promote=False,
                attributes={"title": "From the client"},
                chunk_bytes=SIZE // 4 + 1,
                on_create=lambda upload: created.append(upload["id"]),
                on_progress=interrupt,
            )
            raise AssertionError("not interrupted")
        except Interrupted:
            pass
        upload_id = created[0]
        parley.upload_file(MEETING, resume=upload_id, on_progress=lambda bytes_sent, _size: sent.append(bytes_sent))
        assert SIZE in sent and sent.count(0) <= 1, sent
        while parley.get_upload(upload_id)["status"] != "staged":
            assert parley.get_upload(upload_id)["status"] != "failure"
        renamed = parley.update_upload(
            upload_id, attributes={"title": "From the Python client"}, include={"attributes": True}
        )
        assert renamed["attributes"]["title"] == "From the Python client"
        parley.promote_upload(upload_id)
        audio_id = parley.wait_for_recording(upload_id, poll_sec=0.2)

        written = parley.create_upload(
            media_type="transcript",
            attributes={
                "title": "A transcript from the client",
                "transcript": {
                    "language": "en",
                    "segments": [{"speaker_key": "a", "start": 0, "end": 2000, "text": "Good morning."}],
                },
            },
        )
        transcript_id = parley.wait_for_recording(written["id"], poll_sec=0.2)
        assert next(parley.uploads(filter={"media_type": "transcript"}))["id"] == written["id"]

        page = parley.list_recordings()
        ids = {recording["id"] for recording in parley.recordings()}
        assert page["cursor"] is not None and len(ids) > len(page["recordings"])
        assert {audio_id, transcript_id} <= ids
        assert [entry["text"] for entry in parley.get_transcript(transcript_id)] == ["Good morning."]
        assert ": Good morning." in parley.get_transcript_txt(transcript_id)
        assert parley.get_transcript_vtt(transcript_id).startswith("WEBVTT")
        assert "00:00:00,000 --> " in parley.get_transcript_srt(transcript_id)
        parley.download(audio_id, "download.mp3")
        assert os.path.getsize("download.mp3") == SIZE

        parley.update_recording(audio_id, title="Renamed by the client")
        parley.add_tag(audio_id, tag="client")
        parley.share_to_user(audio_id, user_id=user["id"])
        parley.share_to_team(audio_id, team_id=team["id"])
        recording = parley.get_recording(audio_id, include={"participants": True})
        assert recording["title"] == "Renamed by the client" and recording["tags"] == ["client"]
        assert [shared["id"] for shared in recording["teams"]] == [team["id"]]
        parley.unshare_from_team(audio_id, team["id"])
        parley.unshare_from_user(audio_id, user["id"])
        parley.remove_tag(audio_id, "client")

        hook = parley.create_hook(hook_url=os.environ["HOOK_URL"], hook_type="recording_updated")
        assert hook["id"] in [other["id"] for other in parley.list_hooks()["hooks"]]
        parley.delete_hook(hook["id"])

        try:
            parley.add_tag(audio_id, tag="not a tag")
            raise AssertionError("accepted")
        except ParleyError as error:
            assert error.code == "invalid_input" and error.violations[0]["pointer"] == "/tag"
        try:
            parley.download(transcript_id, "none")
            raise AssertionError("downloaded")
        except ParleyError as error:
            assert error.status == 404 and error.request_id is not None


async def check_async() -> None:
    async with AsyncParley(URL, TOKEN) as parley:
        upload = await parley.upload_file(MEETING, attributes={"title": "From the asynchronous client"})
        recording_id = await parley.wait_for_recording(upload["id"], poll_sec=0.2)
        titles = [recording["title"] async for recording in parley.recordings()]
        assert "From the asynchronous client" in titles
        await parley.download(recording_id, "async.mp3")
        assert os.path.getsize("async.mp3") == SIZE


def check_retries() -> None:
    """A busy server is asked again after Retry-After, but nothing is created twice after a lost connection."""
    calls: list[str] = []

    def respond(request: httpx.Request) -> httpx.Response:
        calls.append(request.url.path)
        if request.url.path.endswith("/create"):
            raise httpx.ReadError("lost", request=request)
        return httpx.Response(429, headers={"Retry-After": "0"}) if len(calls) < 3 else httpx.Response(200, json={})

    with Parley("http://parley.test", "t", client=httpx.Client(transport=httpx.MockTransport(respond))) as parley:
        parley.token_info()
        assert len(calls) == 3
        try:
            parley.create_upload(media_type="video")
            raise AssertionError("no error")
        except httpx.ReadError:
            assert len(calls) == 4

    # A download is repeated until its first byte.
    statuses = [429, 503, 302, 429, 200]

    def respond_with_file(request: httpx.Request) -> httpx.Response:
        status = statuses.pop(0)
        location = "http://files.test/file"
        return httpx.Response(status, headers={"Retry-After": "0", "Location": location}, content=b"sound")

    transport = httpx.MockTransport(respond_with_file)
    with Parley("http://parley.test", "t", client=httpx.Client(transport=transport)) as parley:
        parley.download("0199c6a8-0000-7000-8000-000000000000", "busy.mp3")
        with open("busy.mp3", "rb") as file:
            assert file.read() == b"sound" and not statuses

    deletions = [503, 404, 404]

    def respond_later(request: httpx.Request) -> httpx.Response:
        calls.append(request.url.path)
        status = deletions.pop(0) if request.method == "DELETE" else 503
        return httpx.Response(status, headers={"Retry-After": "0"}, json={"error": "not_found", "detail": "gone"})

    with Parley("http://parley.test", "t", client=httpx.Client(transport=httpx.MockTransport(respond_later))) as parley:
        parley.delete_hook("0199c6a8-0000-7000-8000-000000000000")
        for fails in (
            lambda: parley.delete_hook("0199c6a8-0000-7000-8000-000000000000"),
            lambda: parley.create_upload(media_type="video"),
        ):
            before = len(calls)
            try:
                fails()
                raise AssertionError("no error")
            except ParleyError:
                assert len(calls) == before + 1


def check_webhooks() -> None:
    with open(os.environ["DELIVERY"], encoding="utf-8") as file:
        delivery = json.load(file)
    body, headers, secret = delivery["body"].encode(), delivery["headers"], delivery["secret"]
    message = verify_webhook(body, headers, secret)
    assert message.id == headers["webhook-id"] and message.event["type"] == "recording_added"
    for changed_body, changed_headers in [
        (body.replace(b"recording_added", b"recording_abbed"), headers),
        (body, {**headers, "webhook-id": "another"}),
        (body, {**headers, "webhook-timestamp": "1"}),
        (body, {}),
    ]:
        try:
            verify_webhook(changed_body, changed_headers, secret)
            raise AssertionError("accepted")
        except WebhookVerificationError:
            pass
    # Every type of webhook has an event.
    events = {get_args(get_type_hints(event)["type"])[0] for event in get_args(WebhookEvent)}
    assert events == set(get_args(get_type_hints(types.Hook)["hook_type"])), events


def describe(event: WebhookEvent) -> str:
    """Has no type errors only if the type of an event determines its data."""
    if event["type"] == "transcription_updated":
        return f"{event['data']['recording_id']}: {event['data']['status']}"
    return event["type"]


check_sync()
asyncio.run(check_async())
check_retries()
check_webhooks()
print("every operation called")
