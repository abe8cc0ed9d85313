import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { buffer } from "node:stream/consumers";
import type { MediaFacts } from "../../server/platform/db/json-columns.ts";
import { contentTypeOf, recordingObjectKey } from "../../server/platform/storage/layout.ts";
import { finishPromotion } from "../../server/processing/uploads/promotion/promote-media.ts";
import { compareAndSetStatus } from "../../server/processing/uploads/queries.ts";
import type { TestApp } from "./app.ts";
import { makeUpload, makeWorkspace, mediaFile, waitForRecording } from "./factories.ts";
import { fetchDescribed } from "./openapi.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests set any attribute, also to invalid values.
type Attributes = Record<string, any>;

/** What a server has found out about a fixture file and stored for it. */
interface Rendered {
  readonly facts: MediaFacts;
  readonly media: Omit<Parameters<typeof finishPromotion>[2]["media"], "recording_id">;
  readonly files: readonly { readonly name: string; readonly content: Buffer; readonly sha256: Buffer }[];
}

/** Of the files that a server of this process has rendered, by name. */
const rendered = new Map<string, Rendered>();

/**
 * Creates a recording of a media file, by default a video of 12 seconds. The first one of each file is uploaded; later
 * ones get what was stored for it, since checking and rendering the same file again takes five times as long as all else.
 * @returns its id.
 */
export async function makeMediaRecording(
  app: TestApp,
  token?: string,
  attributes: Attributes = {},
  file = "good-faststart.mp4",
): Promise<string> {
  const by = token ?? (await makeWorkspace(app.db)).member.token;
  const upload = await makeUpload(app, by, {
    media_type: file.endsWith(".mp3") ? "audio" : "video",
    attributes,
  });
  const known = rendered.get(file);
  if (known !== undefined) return createFrom(app, upload.id, known);
  const { url, headers } = upload.media.upload;
  const sent = await fetchDescribed(url, { method: "PUT", body: readFileSync(mediaFile(file)), headers });
  if (sent.status !== 200) throw new Error(`the file was rejected: ${await sent.text()}`);
  const id = await waitForRecording(app, by, upload.id);
  rendered.set(file, await read(app, upload.id, id));
  return id;
}

async function read({ db, store }: TestApp, uploadId: string, recordingId: string): Promise<Rendered> {
  const { facts } = await db.kysely
    .selectFrom("uploads")
    .select("facts")
    .where("id", "=", uploadId)
    .executeTakeFirstOrThrow();
  if (facts === null) throw new Error(`upload ${uploadId} has no facts`);
  const row = await db.kysely
    .selectFrom("recording_media as media")
    .innerJoin("recordings", "recordings.id", "media.recording_id")
    .select(["format", "has_storyboard", "speaker_tracks", "ends_early", "duration_ms", "has_thumbnail"])
    .where("recording_id", "=", recordingId)
    .executeTakeFirstOrThrow();
  const { duration_ms: durationMs, has_thumbnail: hasThumbnail, ...media } = row;
  const stored = await db.kysely
    .selectFrom("stored_files")
    .select(["key", "sha256"])
    .where("recording_id", "=", recordingId)
    .execute();
  const files = stored.map(async ({ key, sha256 }) => {
    const content = await buffer((await store.get(key)).body);
    return { name: basename(key), content, sha256 };
  });
  return { facts, media: { ...media, durationMs, hasThumbnail }, files: await Promise.all(files) };
}

/** Completes an upload as if its file had just been rendered. */
async function createFrom(
  app: TestApp,
  uploadId: string,
  { facts, media, files }: Rendered,
): Promise<string> {
  const { db, store } = app;
  const startDatetime = facts.start && new Date(facts.start.at);
  const upload = await db.kysely
    .transaction()
    .execute((tx) => compareAndSetStatus(tx, uploadId, "awaiting", "promoting", { facts, startDatetime }));
  const recordingId = upload?.planned_recording_id;
  if (recordingId == null) throw new Error(`upload ${uploadId} has no recording id planned`);
  const stored = files.map(async ({ name, content, sha256 }) => {
    const key = recordingObjectKey(recordingId, name);
    await store.put(key, content, { contentType: contentTypeOf(key) });
    return { key, bytes: content.length, sha256 };
  });
  await finishPromotion(app, uploadId, {
    media: { ...media, recording_id: recordingId },
    files: await Promise.all(stored),
    isIncomplete: false,
  });
  return recordingId;
}
