import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";
import { makeRecording, makeUser, makeWorkspace } from "../../../test/support/factories.ts";
import { runJob } from "../../../test/support/run-job.ts";
import { until } from "../../../test/support/until.ts";
import { startMailServer } from "../../people/accounts/test/mail.ts";
import { dataTools } from "../../recordings/recordings/test/recordings.ts";
import { sendDeliveryEmailKind } from "./email-job.ts";
import { removeFiles, removeLeftFilesKind, tryFile, writeFile } from "./files.ts";

const app = await startTestApp({
  env: { PARLEY_SMTP_URL: "smtp://127.0.0.1:9", PARLEY_SMTP_FROM: "parley@x.example" },
});
const { db, store } = app;
const { manage } = dataTools(app);
const workspace = await makeWorkspace(db);
const { member, admin } = workspace;

async function made(body: object): Promise<string> {
  const { status, body: delivery, text } = await manage("POST", "/deliveries", admin.token, body);
  assert.equal(status, 200, text);
  return delivery.id;
}
async function shared(attributes: object): Promise<string> {
  const { recordingId } = await makeRecording(app, member.token, attributes);
  await manage("PATCH", `/recordings/${recordingId}`, member.token, { share_state: "workspace" });
  return recordingId;
}
async function keys(prefix = `notes/${workspace.id}/`): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of store.list(prefix)) found.push(key.slice(prefix.length));
  return found;
}
const textAt = async (key: string): Promise<string> =>
  Buffer.concat(await (await store.get(`notes/${workspace.id}/${key}`)).body.toArray()).toString();
const put = (key: string, text: string) => store.put(`notes/${workspace.id}/${key}`, Buffer.from(text));
const untilKeys = (what: string, check: (found: string[]) => boolean) =>
  until(what, async () => {
    app.jobs.wake();
    const found = await keys();
    return check(found) ? found : undefined;
  });

test("a Markdown file has properties for Obsidian, follows its recording and goes with it, and with the owner's access", async () => {
  const id = await made({ kind: "markdown", folder: "team/notes", link_people: true });
  // The time zone of who records decides the day.
  await db.pool.query("update users set time_zone = 'Pacific/Kiritimati' where id = $1", [member.id]);
  const recordingId = await shared({
    title: 'Große "Runde": 1',
    start_datetime: "2026-11-28T21:04:05.678Z",
    participants: [{ name: "Ada", email: "ada@x.example" }],
  });
  await manage("PATCH", `/recordings/${recordingId}`, member.token, { tags: ["launch"] });
  const [key = ""] = await untilKeys("the file is written", (found) => found.length === 1);
  assert.match(key, /^team\/notes\/2026\/11\/2026-11-29-grosse-runde-1-[0-9a-f]{8}\.md$/);
  const text = await until("it has the tag", async () => {
    const found = await textAt(key);
    return found.includes("tags:") ? found : undefined;
  });
  const [, properties = ""] = text.split("---\n");
  assert.match(properties, /^title: "Große \\"Runde\\": 1"\ndate: 2026-11-29T11:04:05\+14:00\n/);
  assert.match(text, /\n# Große "Runde": 1\n\nNovember 29, 2026 at 11:04 AM GMT\+14 · /);
  assert.match(properties, /\npeople:\n {2}- "\[\[Ada\]\]"\ntags:\n {2}- "launch"\n/);
  assert.match(properties, new RegExp(`\nurl: "${app.config.baseUrl}/recordings/${recordingId}"\n$`));
  const { length } = text.split("\n## Transcript\n");
  assert.equal(length, 2, "all of it, once");
  // Another title is another name.
  await manage("PATCH", `/recordings/${recordingId}`, member.token, { title: "Renamed" });
  const [renamed = ""] = await untilKeys("it is renamed", ([first]) => first?.includes("-renamed-") === true);
  assert.equal((await keys()).length, 1);
  // A template of its own rewrites what was written.
  await manage("PATCH", `/deliveries/${id}`, admin.token, { template: "By {people}", link_people: false });
  await until("it is rewritten", async () => (await textAt(renamed)).includes("# Renamed\n\nBy "));
  // When access ends, the file goes; one that a user changed goes too.
  await put(renamed, "my own words");
  await manage("PATCH", `/recordings/${recordingId}`, member.token, { title: "Renamed again" });
  await untilKeys("their file is left alone", (found) => found.length === 2);
  assert.equal(await textAt(renamed), "my own words");
  await manage("PATCH", `/recordings/${recordingId}`, member.token, { share_state: "restricted" });
  await untilKeys("all are removed", (found) => found.length === 0);
  await manage("PATCH", `/recordings/${recordingId}`, member.token, { share_state: "workspace" });
  await untilKeys("it is back", (found) => found.length === 1);
  await manage("DELETE", `/recordings/${recordingId}`, member.token);
  await untilKeys("it is removed with its recording", (found) => found.length === 0);
  await manage("DELETE", `/deliveries/${id}`, admin.token);
});

test("a file that Parley didn't write is never overwritten nor removed, also after a kill at any step", async () => {
  const deps = { pool: db.pool, store };
  const owner = { hookId: workspace.id, recordingId: admin.id, workspaceId: workspace.id };
  const path = `notes/${workspace.id}/x/note`;
  const rows = async () =>
    (
      await db.pool.query("select key, sha256 is null as is_open from written_files where hook_id = $1", [
        owner.hookId,
      ])
    ).rows;
  await put("x/note.md", "theirs");
  assert.equal(await writeFile(deps, owner, path, "one"), `${path}-2.md`);
  assert.equal(await writeFile(deps, owner, path, "two"), `${path}-2.md`);
  // Killed after the row of a change, before and after its file.
  await db.pool.query("update written_files set next_sha256 = sha256('three'::bytea) where hook_id = $1", [
    owner.hookId,
  ]);
  assert.equal(await writeFile(deps, owner, path, "four"), `${path}-2.md`);
  await db.pool.query("update written_files set next_sha256 = sha256('five'::bytea) where hook_id = $1", [
    owner.hookId,
  ]);
  await put("x/note-2.md", "five");
  assert.equal(await writeFile(deps, owner, path, "six"), `${path}-2.md`);
  // Killed before a first file, whose name another file then took.
  await db.pool.query(
    "update written_files set sha256 = null, next_sha256 = sha256('seven'::bytea) where hook_id = $1",
    [owner.hookId],
  );
  await put("x/note-2.md", "another's");
  assert.equal(await writeFile(deps, owner, path, "seven"), `${path}-3.md`);
  assert.deepEqual(await rows(), [{ key: `${path}-3.md`, is_open: false }]);
  // What a test leaves when its process is killed goes with the next file, which keeps its name.
  assert.equal(await tryFile(deps, owner, `${path}-test`, "test"), `${path}-test.md`);
  assert.equal((await rows()).length, 1);
  await put("x/note-test.md", "test");
  await db.pool.query(
    `insert into written_files (hook_id, recording_id, workspace_id, key, next_sha256)
     values ($1, $2, $3, $4, sha256('test'::bytea))`,
    [owner.hookId, owner.recordingId, owner.workspaceId, `${path}-test.md`],
  );
  assert.equal(await writeFile(deps, owner, path, "eight"), `${path}-3.md`);
  assert.deepEqual(await rows(), [{ key: `${path}-3.md`, is_open: false }]);
  assert.equal(await removeFiles(deps, owner), 1);
  assert.deepEqual(await keys(`notes/${workspace.id}/x/`), ["note-2.md", "note.md"]);
  assert.deepEqual(await rows(), []);
});

test("files of a deleted delivery stay until their recording is deleted", async () => {
  const id = await made({ kind: "markdown", folder: "kept" });
  const recordingId = await shared({ title: "Kept" });
  await untilKeys("the file is written", (found) => found.some((key) => key.startsWith("kept/")));
  await manage("DELETE", `/deliveries/${id}`, admin.token);
  await runJob(app, removeLeftFilesKind);
  assert.equal((await keys(`notes/${workspace.id}/kept/`)).length, 1);
  await manage("DELETE", `/recordings/${recordingId}`, member.token);
  await runJob(app, removeLeftFilesKind);
  assert.equal((await keys(`notes/${workspace.id}/kept/`)).length, 0);
});

test("emails go once to the participants who are users and can see the recording", async () => {
  const id = await made({ kind: "email" });
  const guest = await makeUser(db, workspace);
  const hidden = await makeUser(db, workspace);
  await db.pool.query(
    "update users set browser_language = 'de', browser_time_zone = 'Asia/Tokyo' where id = $1",
    [guest.id],
  );
  await db.pool.query(
    "update users set browser_time_zone = 'UTC', time_zone = 'Asia/Kolkata' where id = $1",
    [member.id],
  );
  await db.pool.query(
    "insert into intelligence_settings (workspace_id, language) values ($1, 'fr') on conflict (workspace_id) do update set language = 'fr'",
    [workspace.id],
  );
  await db.pool.query("update users set deactivated_at = now() where id = $1", [hidden.id]);
  const { rows: emails } = await db.pool.query("select email from users where id = any($1) order by email", [
    [guest.id, hidden.id, member.id],
  ]);
  const recordingId = await shared({
    title: "With guests",
    participants: [...emails, { email: "outside@other.example" }].map(({ email }) => ({
      name: email,
      email,
    })),
  });
  await until("it was sent", async () => {
    app.jobs.wake();
    const { rows } = await db.pool.query(
      "select 1 from deliveries where hook_id = $1 and state = 'delivered'",
      [id],
    );
    return rows.length > 0;
  });
  const { body } = await manage("GET", `/deliveries/${id}/attempts`, admin.token);
  assert.deepEqual(
    [body.attempts[0].recording_id, body.attempts[0].last_response],
    [recordingId, "queued for 2 of the participants"],
  );
  const queued = async () =>
    (await db.pool.query("select data from jobs where name = 'send_delivery_email' order by key")).rows;
  assert.equal((await queued()).length, 2);
  assert.ok(!JSON.stringify(await queued()).includes("With guests"), "content is read when it is sent");
  await manage("PATCH", `/recordings/${recordingId}`, member.token, { title: "Corrected" });

  const server = await startMailServer();
  after(() => server.close());
  const { smtp } = app.config;
  assert.ok(smtp);
  const reachable = { ...app, config: { ...app.config, smtp: { ...smtp, url: server.url } } };
  const send = async () => {
    for (const { data } of await queued()) await runJob(reachable, sendDeliveryEmailKind, data);
  };
  server.refuseWith(451);
  await assert.rejects(send, /could not be sent/);
  server.refuseWith(null);
  // A job that runs again, as after kill -9, sends nothing.
  for (const _ of [1, 2]) await send();
  const { mails } = server;
  const visible = (
    await db.pool.query("select email from users where id = any($1) order by email", [[guest.id, member.id]])
  ).rows;
  assert.deepEqual(
    mails.flatMap(({ to }) => to).sort(),
    visible.map(({ email }) => email),
  );
  assert.match(mails[0]?.raw ?? "", /^Subject: Corrected\r$/m);
  assert.ok(
    mails[0]?.html.includes(`<a href="${app.config.baseUrl}/recordings/${recordingId}">Corrected</a>`),
  );
  assert.equal(new Set(mails.map(({ raw }) => /^Message-ID: (.*)$/m.exec(raw)?.[1])).size, 2);
  // The guest's browser is in German and in Tokyo. The member has chosen a time zone; no language is known of them, but the
  // workspace has its summaries in French.
  const [german, french] = ["de", "fr"].map((language) =>
    mails.find(({ raw }) => new RegExp(`^Content-Language: ${language}\r$`, "m").test(raw)),
  );
  assert.match(german?.text ?? "", /^\d+\. \p{L}+ \d{4} um \d+:\d\d GMT\+9 ·/mu);
  assert.match(german?.html ?? "", /<html lang="de" dir="ltr">/);
  assert.match(french?.text ?? "", /^\d+ \p{L}+ \d{4} à \d+:\d\d UTC\+5:30 ·/mu);

  // One click stops them for a user, who may be signed out.
  const head = (mails.find(({ to }) => to.includes(guest.email))?.raw ?? "").replace(/\r\n\s+/g, " ");
  const path = new URL(/^List-Unsubscribe: <(\S+)>/m.exec(head)?.[1] ?? "").pathname;
  assert.ok(german?.text.includes(path) && german.html.includes(path));
  const optOut = new URLSearchParams({ "List-Unsubscribe": "One-Click" });
  assert.equal((await fetch(app.url + path, { method: "POST", body: optOut })).status, 200);
  const { summary_emailed: choice, ...kinds } = (
    await manage("GET", "/me/notification-settings", guest.token)
  ).body;
  assert.deepEqual([choice, kinds.mentioned], ["off", "email"]);
  assert.equal(
    (await manage("GET", "/me/notification-settings", member.token)).body.summary_emailed,
    "email",
  );

  // What ends while emails wait for the mail server ends them.
  const sentCount = mails.length;
  const resend = async (count = 2) => {
    await db.pool.query("delete from jobs where name = 'send_delivery_email'");
    const { status } = await manage(
      "POST",
      `/deliveries/${id}/attempts/${body.attempts[0].id}/resend`,
      admin.token,
    );
    assert.equal(status, 200);
    await until("they are queued again", async () => {
      app.jobs.wake();
      return (await queued()).length === count;
    });
  };
  await resend(1);
  assert.ok(!JSON.stringify(await queued()).includes(guest.id));
  await manage("PATCH", "/me/notification-settings", guest.token, { summary_emailed: "email" });
  await resend();
  await db.pool.query("update users set deactivated_at = now() where id = $1", [guest.id]);
  await send();
  assert.deepEqual(
    mails.slice(sentCount).map(({ to }) => to),
    [[member.email]],
  );
  await db.pool.query("update users set deactivated_at = null where id = $1", [guest.id]);
  await resend();
  await manage("PATCH", `/recordings/${recordingId}`, member.token, { share_state: "restricted" });
  await send();
  await manage("PATCH", `/recordings/${recordingId}`, member.token, { share_state: "workspace" });
  await manage("DELETE", `/deliveries/${id}`, admin.token);
  await send();
  assert.equal(mails.length, sentCount + 1);
});
