import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { TestApp } from "./app.ts";
import { call, everyVersion } from "./call.ts";

/*
 * Everything the versioned API shows of a workspace's recordings, without what differs between installations: ids are
 * replaced by names, emails or positions, and URLs are left out.
 */

const include = {
  highlights: true,
  participants: true,
  ai_action_items: true,
  ai_summary: true,
  calendar_event: true,
  crm: true,
  screenshares: true,
};

// biome-ignore lint/suspicious/noExplicitAny: any field of a response.
type Json = any;

type Target = Pick<TestApp, "url">;

/** All recordings of the token in a version, newest first. */
async function listAll(app: Target, token: string, version: string, more = {}): Promise<Json[]> {
  const all: Json[] = [];
  let cursor: string | null = null;
  do {
    const answer: Json = await call(
      app,
      "POST",
      "/recordings",
      { include: { ...include, ...more }, ...(cursor === null ? {} : { cursor }) },
      { token, version },
    );
    assert.equal(answer.status, 200, answer.text);
    all.push(...answer.body.recordings);
    cursor = answer.body.cursor;
  } while (cursor !== null);
  return all;
}

/** @param options.media also compare the files. */
export async function snapshot(
  app: Target & { readonly config: { readonly baseUrl: string } },
  token: string,
  options: { media?: boolean } = {},
): Promise<Json> {
  const versions: Json = {};
  for (const version of everyVersion) {
    const formats: Json[] = [];
    for (const format of ["json", "markdown", "text"])
      formats.push(await listAll(app, token, version, { ai_template_sections: { format } }));
    versions[version] = formats.map((list) => list.map(withoutIds));
  }
  const [newest] = everyVersion.toReversed();
  const files: Json = {};
  for (const recording of await listAll(app, token, newest ?? "")) {
    const read = (path: string) =>
      call(app, "GET", `/recordings/${recording.id}/${path}`, undefined, { token });
    const people = new Map(recording.participants.map((one: Json, index: number) => [one.id, index]));
    const entries = (await read("transcript")).body.map((entry: Json) => ({
      ...entry,
      participant_id: people.get(entry.participant_id) ?? null,
    }));
    const texts: string[] = [];
    for (const format of ["txt", "vtt", "srt"]) texts.push((await read(`transcript.${format}`)).text);
    const key = `${recording.start_datetime} ${recording.title}`;
    files[key] = { entries, texts, media: options.media ? await mediaOf(app, read) : null };
  }
  return { versions, files };
}

async function mediaOf(
  app: Target & { readonly config: { readonly baseUrl: string } },
  read: (path: string) => Promise<{ status: number; headers: Headers }>,
): Promise<string | null> {
  const { status, headers } = await read("download");
  if (status !== 302) return null;
  const response = await fetch((headers.get("location") ?? "").replace(app.config.baseUrl, app.url));
  assert.equal(response.status, 200);
  return createHash("sha256")
    .update(Buffer.from(await response.arrayBuffer()))
    .digest("hex");
}

function withoutIds(recording: Json): Json {
  const people = new Map(recording.participants.map((one: Json, index: number) => [one.id, index]));
  const { id: _id, url: _url, thumbnail_url: thumbnail, ...rest } = recording;
  return {
    ...rest,
    has_thumbnail: thumbnail !== null,
    teams: rest.teams.map(({ name }: Json) => name),
    recorders: rest.recorders.map(({ email, name, participant_id }: Json) => ({
      ...{ email, name },
      participant: people.get(participant_id) ?? null,
    })),
    meeting_type: rest.meeting_type && { name: rest.meeting_type.name, scope: rest.meeting_type.scope },
    participants: rest.participants.map(({ id: _, ...one }: Json) => one),
    highlights: rest.highlights.map(
      ({ id: _, recording_id: __, url: ___, thumbnail_url: ____, ...one }: Json) => one,
    ),
    ai_action_items: rest.ai_action_items.map(({ assignee, ...one }: Json) => ({
      ...one,
      assignee: assignee && { participant: people.get(assignee.id), has_user: assignee.user_id !== null },
    })),
    screenshares: rest.screenshares.map(({ participant_id, ...one }: Json) => ({
      ...one,
      participant: people.get(participant_id),
    })),
  };
}
