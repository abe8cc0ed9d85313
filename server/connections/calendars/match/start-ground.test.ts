import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { call, olderVersion, startTestApp } from "../../../../test/support/app.ts";
import { makeWorkspace, mediaFile, sampleTranscript } from "../../../../test/support/factories.ts";
import { until } from "../../../../test/support/until.ts";

const watched = mkdtempSync(join(tmpdir(), "parley-grounds-"));
after(() => rmSync(watched, { recursive: true, force: true }));
const app = await startTestApp({ env: { PARLEY_WATCH_DIRS: watched, PARLEY_WATCH_INTERVAL: "100ms" } });
const { pool } = app.db;
const workspace = await makeWorkspace(app.db);
const { admin, member } = workspace;
const hourMs = 3_600_000;

/** Takes place while the tests upload, and so does nothing that they upload. */
const running = { uid: "running", start: Date.now() - hourMs, end: Date.now() + hourMs };
const earlier = {
  uid: "earlier",
  start: Date.parse("2026-03-04T09:00:00Z"),
  end: Date.parse("2026-03-04T10:00:00Z"),
};
const stated = "2026-03-04T09:15:22.000Z";

async function addCalendar(userId: string): Promise<void> {
  const { rows } = await pool.query(
    `insert into calendars (id, workspace_id, user_id, kind, name, host, secrets, time_zone, next_read_at)
     values (gen_random_uuid(), $1, $2, 'ics', 'Work', 'example', '', 'UTC', 'infinity') returning id`,
    [workspace.id, userId],
  );
  for (const { uid, start, end } of [running, earlier])
    await pool.query(
      `insert into calendar_events (id, calendar_id, key, start_at, end_at, is_all_day, is_private, ical_uid, title,
         organizer, attendees)
       values (gen_random_uuid(), $1, md5($2), $3, $4, false, false, $2, $2, null, '[]')`,
      [rows[0].id, uid, new Date(start), new Date(end)],
    );
}
await addCalendar(member.id);

// biome-ignore lint/suspicious/noExplicitAny: any response of any operation.
async function manage(method: string, path: string, token: string, body?: unknown): Promise<any> {
  const response = await call(app, method, `/_/api/v1${path}`, body, { token, version: null });
  assert.equal(response.status, 200, `${path}: ${response.text}`);
  return response.body;
}

/** The recording of an upload, once its meeting was looked up. */
const recorded = (uploadId: string): Promise<string> =>
  until(
    "the upload is a recording whose meeting was looked up",
    async () => {
      const { rows } = await pool.query(
        `select recording_id from uploads u where id = $1 and recording_id is not null
           and not exists (select 1 from jobs j where j.name = 'match_meeting' and j.key = u.recording_id::text)`,
        [uploadId],
      );
      return rows[0]?.recording_id as string | undefined;
    },
    60_000,
  );

/** The meeting of a recording: its UID, "asked", or null. */
async function meetingOf(id: string): Promise<string | null> {
  const { state, ical_uid: uid } = await manage("GET", `/recordings/${id}/meeting`, member.token);
  return state === "ambiguous" ? "asked" : uid;
}

let count = 0;
/** A video whose container states when it was recorded, or doesn't; each is another file. */
function video(startedAt?: string): Buffer {
  const bytes = readFileSync(mediaFile("good-exactly-10s.mp4"));
  const header = bytes.indexOf("mvhd");
  const epochOffsetSec = 2_082_844_800;
  if (startedAt !== undefined) bytes.writeUInt32BE(Date.parse(startedAt) / 1000 + epochOffsetSec, header + 8);
  const free = Buffer.alloc(16);
  free.writeUInt32BE(16, 0);
  free.write("free", 4);
  count += 1;
  free.writeUInt32BE(count, 8);
  return Buffer.concat([bytes, free]);
}

type Target = { readonly url: string; readonly tus_url: string; readonly headers?: Record<string, string> };

/** Sends a file to an upload, over tus or in one request. */
async function send(
  { url, tus_url: tusUrl, headers = {} }: Target,
  body: Buffer,
  overTus = false,
): Promise<void> {
  const [target, init] = overTus
    ? [tusUrl, { method: "POST", headers: { "tus-resumable": "1.0.0", "upload-length": `${body.length}` } }]
    : [url, { method: "PUT", headers, body }];
  const at = (path: string): string => path.replace("http://parley.test", app.url);
  const begun = await fetch(at(target), init);
  assert.ok(begun.ok, await begun.text());
  if (!overTus) return;
  const patched = await fetch(at(begun.headers.get("location") ?? ""), {
    method: "PATCH",
    headers: {
      ...{ "tus-resumable": "1.0.0", "upload-offset": "0" },
      "content-type": "application/offset+octet-stream",
    },
    body,
  });
  assert.ok(patched.ok, await patched.text());
}

async function createUpload(body: object, file?: Buffer, overTus = false): Promise<string> {
  const {
    status,
    text,
    body: upload,
  } = await call(app, "POST", "/uploads/create", body, { token: member.token });
  assert.equal(status, 200, text);
  if (file !== undefined) await send(upload.media.upload, file, overTus);
  return recorded(upload.id);
}

/** Imports a video. */
async function importVideo(
  body: { readonly media: object; readonly source?: string },
  file: Buffer,
): Promise<string> {
  const { id, upload } = await manage("POST", "/recordings", member.token, body);
  await send(upload, file);
  return recorded(id);
}

/** Uploads a video by the older operation. */
async function sendOneStep(file: Buffer): Promise<string> {
  const options = { token: member.token, version: olderVersion };
  const { body, status, text } = await call(
    app,
    "POST",
    "/recordings/upload",
    { filename: "Call.mp4" },
    options,
  );
  assert.equal(status, 200, text);
  await send(body, file);
  return recorded(body.uuid);
}

/** Puts a video into a watched folder. */
async function watch(name: string, file: Buffer, modified = new Date()): Promise<string> {
  const path = join(watched, "calls", name);
  mkdirSync(join(watched, "calls"), { recursive: true });
  writeFileSync(
    join(watched, "calls", "parley.json"),
    JSON.stringify({ workspace: workspace.id, owner: member.email }),
  );
  writeFileSync(path, file);
  utimesSync(path, modified, modified);
  const id = await until(`${name} is an upload`, async () => {
    const { rows } = await pool.query("select id from uploads where import_data -> 'file' ->> 'name' = $1", [
      `calls/${name}`,
    ]);
    return rows[0]?.id as string | undefined;
  });
  return recorded(id);
}

const transcript = { media_type: "transcript", attributes: { transcript: sampleTranscript } };
const dated = { transcript: sampleTranscript, start_datetime: stated };
const long = { media_type: "video", attributes: {} };

test("a recording is matched by a start that its sender, file or name states, never by the time of its upload", async () => {
  const sent: Record<string, Promise<string>> = {
    "transcript, date given": createUpload({ ...transcript, attributes: dated }),
    "transcript, none": createUpload(transcript),
    "file, date given": createUpload({ ...long, attributes: { start_datetime: stated } }, video()),
    "file, date in it": createUpload(long, video(stated)),
    "file, none": createUpload(long, video()),
    "tus, date in it": createUpload(long, video(stated), true),
    "tus, none": createUpload(long, video(), true),
    "one step, date in it": sendOneStep(video(stated)),
    "one step, none": sendOneStep(video()),
    "import, date in its name": importVideo(
      { media: { name: "2026-03-04 10-15-22.mp4", time_zone: "Europe/Berlin" } },
      video(),
    ),
    "import, none": importVideo({ media: { name: "Call.mp4" } }, video()),
    "recorded in the browser": importVideo(
      { media: { format: "mp4" }, source: "local_capture" },
      video(stated),
    ),
    "watched, date in it": watch("Zoom.mp4", video(stated)),
    "web app, changed during a meeting": importVideo(
      { media: { name: "Download.mp4", modified_datetime: stated } },
      video(),
    ),
    "watched, changed during a meeting": watch("Copy.mp4", video()),
    "web app, changed at another time": importVideo(
      { media: { name: "Old.mp4", modified_datetime: "2026-02-01T00:00:00Z" } },
      video(),
    ),
  };
  const meetings: Record<string, string | null> = {};
  for (const [way, id] of Object.entries(sent)) meetings[way] = await meetingOf(await id);
  assert.deepEqual(meetings, {
    "transcript, date given": "earlier",
    "transcript, none": null,
    "file, date given": "earlier",
    "file, date in it": "earlier",
    "file, none": null,
    "tus, date in it": "earlier",
    "tus, none": null,
    "one step, date in it": "earlier",
    "one step, none": null,
    "import, date in its name": "earlier",
    "import, none": null,
    "recorded in the browser": "earlier",
    "watched, date in it": "earlier",
    "web app, changed during a meeting": "asked",
    "watched, changed during a meeting": "asked",
    "web app, changed at another time": null,
  });
  const { candidates } = await manage("GET", `/recordings/${await sent["file, none"]}/meeting`, member.token);
  assert.equal(candidates.length, 1, "the user can choose it all the same");
});

test("a recorder who states the start later gets the meeting of that time; another user's change reveals none", async () => {
  const startAt = async (token: string, id: string, start: string): Promise<void> => {
    await manage("PATCH", `/recordings/${id}`, token, { start_datetime: start });
    await until("its meeting was looked up", async () => {
      const { rows } = await pool.query("select 1 from jobs where name = 'match_meeting' and key = $1", [id]);
      return rows.length === 0;
    });
  };
  const own = await createUpload(transcript);
  await startAt(member.token, own, stated);
  assert.equal(await meetingOf(own), "earlier");

  const shared = await createUpload({
    ...transcript,
    attributes: { ...dated, start_datetime: "2026-01-01T00:00:00Z" },
  });
  await manage("PATCH", `/recordings/${shared}`, member.token, { share_state: "workspace" });
  await startAt(admin.token, shared, stated);
  assert.equal(await meetingOf(shared), null);
});
