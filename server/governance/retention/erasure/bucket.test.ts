import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startTestApp, type TestApp } from "../../../../test/support/app.ts";
import { makeRecording, makeUser, makeWorkspace } from "../../../../test/support/factories.ts";
import { startHookReceiver } from "../../../../test/support/hook-receiver.ts";
import { runJob } from "../../../../test/support/run-job.ts";
import { setS3Credentials } from "../../../../test/support/s3-credentials.ts";
import { noS3Server, startS3Server } from "../../../../test/support/s3-server.ts";
import { until } from "../../../../test/support/until.ts";
import { removeLeftFilesKind } from "../../../connections/deliveries/files.ts";
import { notesPrefix } from "../../../platform/storage/layout.ts";
import { dumpDatabase, filesBelow, manage } from "../test/retention.ts";

const s3 = await startS3Server();
setS3Credentials(s3 ?? undefined);
after(() => s3?.stop());
const receiver = await startHookReceiver();
const env = { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" };

/** What only she is called, wrote, said or planned. */
const traces = ["zora", "quimby", "pangolin", "axolotl", "okapi", "narwhal", "her-calendar"];

function tracesIn(text: string): string[] {
  const folded = text.toLowerCase();
  return traces.filter((trace) => folded.includes(trace));
}

/** Names and contents of everything that is stored. */
async function dumpStore({ store }: TestApp, keys: readonly string[]): Promise<string> {
  const texts = [];
  for (const key of keys)
    texts.push(key, Buffer.concat(await (await store.get(key)).body.toArray()).toString());
  return texts.join("\n");
}

async function eraseEverywhere(app: TestApp): Promise<void> {
  const workspace = await makeWorkspace(app.db);
  const { admin, member: bob } = workspace;
  const zora = await makeUser(app.db, workspace, { name: "Zora Quimby", email: `zora@${workspace.domain}` });
  const by = async (token: string, method: string, path: string, body?: unknown) => {
    const { status, body: found, text } = await manage(app, method, path, token, body);
    assert.ok(status < 300, `${method} ${path}: ${text}`);
    return found;
  };
  // Files of a delivery that is on, and of one that is deleted before the erasure.
  const notes = [];
  for (const folder of ["on", "off"])
    notes.push(await by(admin.token, "POST", "/deliveries", { kind: "markdown", folder, link_people: true }));
  const { recordingId: id } = await makeRecording(app, bob.token, {
    title: "Budget",
    participants: [
      { name: zora.name, email: zora.email, speaker_key: "z" },
      { name: "Bob", speaker_key: "b" },
    ],
    transcript: {
      language: "en",
      segments: [
        { speaker_key: "z", start: 0, end: 4000, text: "The pangolin budget." },
        { speaker_key: "b", start: 4000, end: 8000, text: "Walrus, as always." },
      ],
    },
  });
  await by(bob.token, "PATCH", `/recordings/${id}`, { share_state: "workspace" });
  const keys = () => filesBelow(app, `${notesPrefix}${workspace.id}/`);
  await until("both files are written", async () => {
    app.jobs.wake();
    return (await keys()).length === 2;
  });
  await by(admin.token, "DELETE", `/deliveries/${notes[1].id}`);

  const path = `/recordings/${id}/comments`;
  const question = await by(bob.token, "POST", path, { text: "@Zora Quimby, why?", mentions: [zora.id] });
  await by(zora.token, "POST", path, { text: "Because of the axolotl", parent_id: question.id });
  await by(zora.token, "PUT", `/comments/${question.id}/reactions/${encodeURIComponent("👍")}`);
  const soon = `${new Date(Date.now() + 3_600_000).toISOString().replace(/[-:]|\.\d+/g, "")}`;
  receiver.at("/her-calendar.ics", (_request, response) => {
    const lines = ["BEGIN:VCALENDAR", "X-WR-CALNAME:Zora", "BEGIN:VEVENT", "UID:okapi", `DTSTART:${soon}`];
    response.end(
      [...lines, "DURATION:PT1H", "SUMMARY:Okapi", "END:VEVENT", "END:VCALENDAR", ""].join("\r\n"),
    );
  });
  const calendar = { kind: "ics", url: `${receiver.url}/her-calendar.ics` };
  assert.equal((await by(zora.token, "POST", "/calendars", calendar)).events, 1);
  const { meetings } = await by(zora.token, "GET", "/meetings?time_zone=Pacific/Kiritimati");
  if (meetings.length > 0) await by(zora.token, "PATCH", `/meetings/${meetings[0].id}`, { notes: "Narwhal" });
  await until("both were notified", async () => {
    app.jobs.wake();
    const { rows } = await app.db.pool.query(
      "select distinct user_id from notifications where recording_id = $1",
      [id],
    );
    return rows.length === 2;
  });
  const before = `${await dumpDatabase(app)}\n${await dumpStore(app, await keys())}`;
  const hidden = meetings.length > 0 ? [] : ["narwhal"];
  // The calendar's URL is encrypted.
  assert.deepEqual(
    tracesIn(before),
    traces.filter((trace) => ![...hidden, "her-calendar"].includes(trace)),
  );

  const { id: erasure } = await by(admin.token, "POST", "/erasures", { email: zora.email });
  await until("she is erased", async () => {
    app.jobs.wake();
    return (await by(admin.token, "GET", `/erasures/${erasure}`)).status === "done";
  });
  await runJob(app, removeLeftFilesKind);
  await until("the file is written again without her", async () => {
    app.jobs.wake();
    const found = await keys();
    return found.length === 1 && !(await dumpStore(app, found)).includes("angolin");
  });
  const all = await filesBelow(app, "");
  assert.deepEqual(tracesIn(await dumpStore(app, all)), [], all.join("\n"));
  const rows = (await dumpDatabase(app)).split("\n");
  assert.deepEqual(
    rows.filter((row) => tracesIn(row).length > 0),
    [],
  );
  const { comments } = await by(bob.token, "GET", path);
  assert.deepEqual(
    comments.map(({ text, mentions, reactions }: Record<string, unknown>) => [text, mentions, reactions]),
    [["@a deleted user, why?", [], []]],
  );
  const [note = ""] = await keys();
  assert.match(await dumpStore(app, [note]), /Walrus, as always/, "what others said stays");
}

test("erased: no comment, mention, notification, calendar or delivered file of the user is left in database and folder", async () => {
  await eraseEverywhere(await startTestApp({ env }));
});

test("erased: the same holds for database and bucket", { skip: noS3Server }, async () => {
  assert.ok(s3);
  const bucket = {
    PARLEY_STORAGE: "s3",
    PARLEY_S3_ENDPOINT: s3.endpoint,
    PARLEY_S3_BUCKET: await s3.bucket(),
  };
  await eraseEverywhere(await startTestApp({ env: { ...env, ...bucket } }));
});
