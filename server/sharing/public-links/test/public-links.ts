import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { call, startTestApp, type TestApp, type TestAppOptions } from "../../../../test/support/app.ts";
import { makeRecording, makeWorkspace } from "../../../../test/support/factories.ts";
import { until } from "../../../../test/support/until.ts";
import { recordingObjectKey } from "../../../platform/storage/layout.ts";

/** A server with two workspaces, and what tests of public links do all the time. */
export async function startLinks(options: TestAppOptions = {}) {
  const app = await startTestApp(options);
  const workspace = await makeWorkspace(app.db);
  const stranger = await makeWorkspace(app.db);

  /** Calls the management API, which has no versions. */
  const manage = (method: string, path: string, token: string | null, body?: unknown) =>
    call(app, method, `/_/api/v1${path}`, body, { token, version: null });

  /** Requests the public view of a link. */
  const open = (token: string, query = "") => manage("GET", `/shared/${token}${query}`, null);

  const setState = async (recordingId: string, share_state: string) => {
    const answer = await manage("PATCH", `/recordings/${recordingId}`, workspace.token, { share_state });
    assert.equal(answer.status, 200, answer.text);
  };

  const linksOf = async (recordingId: string) =>
    (await manage("GET", `/recordings/${recordingId}/links`, workspace.token)).body.links;

  /** Creates a public recording of the member. @returns its id and the token of its link. */
  const makePublic = async (attributes: object = {}) => {
    const { recordingId } = await makeRecording(app, workspace.member.token, attributes);
    await setState(recordingId, "public");
    const [link] = await linksOf(recordingId);
    return { recordingId, linkId: link.id as string, token: tokenOf(link) };
  };

  return { app, workspace, stranger, manage, open, setState, linksOf, makePublic };
}

/** The token at the end of a link's URL. */
export function tokenOf(link: { readonly url: string }): string {
  return link.url.slice(link.url.lastIndexOf("/") + 1);
}

/** A URL on the server under test. */
export function reach(app: TestApp, url: string): string {
  return url.replace(/^http:\/\/parley\.test/, app.url);
}

/** A committed media file. */
export function fixture(name: string): Buffer {
  return readFileSync(new URL(`../../../../test/fixtures/media/${name}`, import.meta.url));
}

/** Adds a media file to a recording, as promotion does. */
export async function addMedia(
  app: TestApp,
  recordingId: string,
  media: { readonly format: "mp4" | "mp3"; readonly bytes: Buffer; readonly durationMs: number },
): Promise<void> {
  const { format, bytes, durationMs } = media;
  await app.store.put(recordingObjectKey(recordingId, `media.${format}`), bytes, {});
  await app.store.put(recordingObjectKey(recordingId, "waveform.json"), Buffer.from('{"peaks":[1,2,3]}'), {});
  await app.db.pool.query("update recordings set media_type = $2, duration_ms = $3 where id = $1", [
    recordingId,
    format === "mp4" ? "video" : "audio",
    durationMs,
  ]);
  await app.db.pool.query(
    "insert into recording_media (recording_id, format, has_storyboard) values ($1, $2, false)",
    [recordingId, format],
  );
}

/** Waits until no item of a link is being prepared. @returns the view. */
export function settled(links: Awaited<ReturnType<typeof startLinks>>, token: string) {
  return until(
    "the clips of a link are rendered",
    async () => {
      const { status, body, text } = await links.open(token);
      assert.equal(status, 200, text);
      const states = body.items.map((item: { state: string }) => item.state);
      return states.includes("preparing") ? undefined : body;
    },
    60_000,
  );
}
