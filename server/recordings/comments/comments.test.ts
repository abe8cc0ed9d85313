import assert from "node:assert/strict";
import { test } from "node:test";
import { maxComments } from "../../../contract/recordings/comments.ts";
import { startTestApp } from "../../../test/support/app.ts";
import { makeRecording, makeUser, makeWorkspace, type TestUser } from "../../../test/support/factories.ts";
import { until } from "../../../test/support/until.ts";
import { auditOf } from "../../people/accounts/test/accounts.ts";
import { dataTools } from "../recordings/test/recordings.ts";
import { insertImportedComments } from "./import.ts";
import { decodeMentions, encodeMentions } from "./mentions.ts";

const app = await startTestApp({ env: { PARLEY_PAGE_SIZE: "3" } });
const { db } = app;
const { manage, eventsOf } = dataTools(app);
const workspace = await makeWorkspace(db);
const { member, admin } = workspace;

/** A recording of the member, which everyone in the workspace can see. */
async function shared(): Promise<string> {
  const { recordingId } = await makeRecording(app, member.token);
  await manage("PATCH", `/recordings/${recordingId}`, member.token, { share_state: "workspace" });
  return recordingId;
}

const post = (recordingId: string, { token }: Pick<TestUser, "token">, body: object) =>
  manage("POST", `/recordings/${recordingId}/comments`, token, body);
const created = async (recordingId: string, user: Pick<TestUser, "token">, body: object) => {
  const { status, body: comment, text } = await post(recordingId, user, body);
  assert.equal(status, 200, text);
  return comment;
};
async function listed(recordingId: string, token: string) {
  const comments = [];
  for (let query = ""; ; ) {
    const { body } = await manage("GET", `/recordings/${recordingId}/comments${query}`, token);
    comments.push(...body.comments);
    if (body.cursor === null) return comments;
    query = `?cursor=${body.cursor}`;
  }
}

test("a comment at a moment, a reply and a comment on the whole recording are listed, oldest first, over pages", async () => {
  const id = await shared();
  const other = await makeUser(db, workspace);
  const first = await created(id, member, { text: "Here **look**", timestamp: 1000 });
  const reply = await created(id, other, { text: "I see", parent_id: first.id });
  const nested = await created(id, member, { text: "Good", parent_id: reply.id });
  const whole = await created(id, other, { text: "All fine" });
  assert.deepEqual([reply.parent_id, nested.parent_id, whole.parent_id], [first.id, first.id, null]);
  assert.deepEqual([first.timestamp, reply.timestamp, first.author.id], [1000, null, member.id]);
  assert.deepEqual(await listed(id, other.token), [first, reply, nested, whole]);
  assert.deepEqual(await eventsOf(first.id), ["comment_added"]);
});

test("exactly those who see the recording see its comments: access that ends, and the trash, end it for events too", async () => {
  const { recordingId: id } = await makeRecording(app, member.token);
  const user = await makeUser(db, workspace);
  assert.equal((await post(id, user, { text: "Mine" })).status, 404);
  await manage("PATCH", `/recordings/${id}`, member.token, { share_state: "workspace" });
  const mine = await created(id, user, { text: "Mine" });
  const feed = async () =>
    (await manage("GET", "/events?types=comment_added&limit=500", user.token)).body.events.filter(
      (event: { data: { id: string } }) => event.data.id === mine.id,
    );
  await until("the feed has the event", async () => (await feed()).length > 0);
  assert.equal((await feed())[0].data.text, "Mine");
  await manage("PATCH", `/recordings/${id}`, member.token, { share_state: "restricted" });
  assert.equal((await manage("GET", `/recordings/${id}/comments`, user.token)).status, 404);
  assert.equal((await manage("PATCH", `/comments/${mine.id}`, user.token, { text: "x" })).status, 404);
  assert.equal((await manage("DELETE", `/comments/${mine.id}`, user.token)).status, 404);
  assert.deepEqual(await feed(), []);
  await manage("DELETE", `/recordings/${id}`, member.token);
  assert.equal((await manage("GET", `/recordings/${id}/comments`, member.token)).status, 404);
  assert.equal((await manage("POST", `/comments/${mine.id}/resolve`, member.token)).status, 404);
});

test("a mention is stored by id and follows the name; one of a user who can't see the recording is refused until it is shared", async () => {
  const { recordingId: id } = await makeRecording(app, member.token);
  const user = await makeUser(db, workspace, { name: "Ann Lee" });
  const refused = await post(id, member, { text: "@Ann Lee?", mentions: [user.id] });
  assert.equal(refused.status, 400);
  assert.deepEqual(
    refused.body.violations.map(({ pointer, detail }: { pointer: string; detail: string }) => [
      pointer,
      detail,
    ]),
    [["/mentions/0", "is a user who can't see the recording; share it with them first"]],
  );
  assert.equal((await post(id, member, { text: "x", mentions: [workspace.id] })).status, 400);
  await manage("PATCH", `/recordings/${id}`, member.token, { share_state: "workspace" });
  const comment = await created(id, member, { text: "@Ann Lee, see?", mentions: [user.id] });
  assert.deepEqual(
    [comment.text, comment.mentions.map((one: { id: string }) => one.id)],
    ["@Ann Lee, see?", [user.id]],
  );
  await db.pool.query("update users set name = 'Ann Berg' where id = $1", [user.id]);
  assert.equal((await listed(id, member.token))[0].text, "@Ann Berg, see?");
  // Who was mentioned before stays so, even without access.
  await manage("PATCH", `/recordings/${id}`, member.token, { share_state: "restricted" });
  const edited = await manage("PATCH", `/comments/${comment.id}`, member.token, { text: "@Ann Berg: well?" });
  assert.deepEqual([edited.status, edited.body.mentions.length], [200, 1]);
});

test("names in a text become mentions, the longest first, and only whole ones", () => {
  const users = [
    { id: "0198c2f4-7a31-7cc2-9d52-3f0f7f3c9a11", name: "Ann" },
    { id: "0198c2f4-7a31-7cc2-9d52-3f0f7f3c9a12", name: "Ann Lee" },
  ];
  const text = "@Ann Lee and @Ann, not @Annika, nor a@b.example @";
  const stored = encodeMentions(text, users);
  assert.equal(stored, `@${users[1]?.id} and @${users[0]?.id}, not @Annika, nor a@b.example @`);
  assert.equal(decodeMentions(stored, users), text);
});

test("only the author edits; the author, admins and workspace tokens delete, other recorders don't; replies stay", async () => {
  const id = await shared();
  const author = await makeUser(db, workspace);
  const [comment, second] = [
    await created(id, author, { text: "One", timestamp: 500 }),
    await created(id, author, { text: "Two" }),
  ];
  const reply = await created(id, member, { text: "Yes", parent_id: comment.id });
  const path = `/comments/${comment.id}`;
  for (const { token } of [member, admin, { token: workspace.token }])
    assert.equal((await manage("PATCH", path, token, { text: "Mine now" })).status, 403);
  assert.equal((await manage("DELETE", path, member.token)).status, 403);
  const edited = (await manage("PATCH", path, author.token, { text: "One!" })).body;
  assert.deepEqual([edited.text, typeof edited.edited_datetime], ["One!", "string"]);
  await manage("PATCH", path, author.token, { text: "One!" });
  assert.equal((await manage("DELETE", path, admin.token)).status, 200);
  assert.equal((await manage("DELETE", `/comments/${second.id}`, workspace.token)).status, 200);
  assert.equal((await manage("PATCH", path, author.token, { text: "Again" })).status, 404);
  const left = await listed(id, member.token);
  assert.deepEqual(
    left.map((one) => [one.id, one.author?.id ?? null, one.text, one.timestamp]),
    [
      [comment.id, null, "", 500],
      [reply.id, member.id, "Yes", null],
    ],
  );
  assert.deepEqual(await eventsOf(comment.id), ["comment_added", "comment_updated", "comment_deleted"]);
  assert.equal((await manage("DELETE", `/comments/${reply.id}`, member.token)).status, 200);
  assert.deepEqual(await listed(id, member.token), []);
  const actions = (await auditOf(db, workspace.id)).filter((entry) => entry.subject_id === comment.id);
  assert.deepEqual(
    actions.map(({ action }) => action),
    ["comment_created", "comment_changed", "comment_deleted"],
  );
});

test("reactions count each user once; a thread is resolved by any of its comments and opened again", async () => {
  const id = await shared();
  const other = await makeUser(db, workspace);
  const comment = await created(id, member, { text: "Done?" });
  const reply = await created(id, other, { text: "Done", parent_id: comment.id });
  const emoji = `/comments/${comment.id}/reactions/${encodeURIComponent("👍🏽")}`;
  for (const { token } of [member, other, other])
    assert.equal((await manage("PUT", emoji, token)).status, 200);
  assert.deepEqual((await manage("DELETE", emoji, member.token)).body.reactions, [
    { emoji: "👍🏽", user_ids: [other.id] },
  ]);
  assert.equal((await manage("PUT", `/comments/${comment.id}/reactions/ok`, other.token)).status, 400);
  const resolved = (await manage("POST", `/comments/${reply.id}/resolve`, other.token)).body;
  assert.deepEqual([resolved.id, resolved.resolved_by.id], [comment.id, other.id]);
  const open = await manage("POST", `/comments/${comment.id}/resolve`, member.token, { resolved: false });
  assert.deepEqual([open.body.resolved_datetime, open.body.resolved_by], [null, null]);
  const updates = (await eventsOf(comment.id)).filter((type) => type === "comment_updated");
  assert.equal(updates.length, 5, "a repeated request is no event");
});

test("blank and long texts, moments after the end, unknown threads and workspace tokens are refused; 1,000 comments are the limit", async () => {
  const id = await shared();
  const elsewhere = await created(await shared(), member, { text: "Elsewhere" });
  const comment = await created(id, member, { text: "a".repeat(5000) });
  for (const body of [
    { text: " " },
    { text: "a".repeat(5001) },
    { text: "x", timestamp: 86_400_000 },
    { text: "x", parent_id: elsewhere.id },
    { text: "x", parent_id: comment.id, timestamp: 1 },
  ])
    assert.equal((await post(id, member, body)).status, 400, JSON.stringify(body).slice(0, 80));
  assert.equal((await post(id, { token: workspace.token }, { text: "x" })).status, 403);
  await db.pool.query(
    `insert into comments (id, recording_id, user_id, text)
     select gen_random_uuid(), $1, $2, 'x' from generate_series(1, ${maxComments - 1})`,
    [id, member.id],
  );
  assert.equal((await post(id, member, { text: "One too many" })).status, 409);
});

test("an imported comment that is too long is cut between characters", async () => {
  const id = await shared();
  const long = {
    ...{ parent: null, user_id: member.id, text: `${"a".repeat(4999)}😀 more`, timestamp: null },
    ...{ mentioned_ids: [], reactions: [], created_at: "2026-01-05T09:00:00Z", edited_at: null },
    ...{ resolved_at: null, resolved_by: null },
  };
  await db.kysely
    .transaction()
    .execute((tx) => insertImportedComments(tx, { id, workspaceId: workspace.id, durationMs: 1000 }, [long]));
  const [comment] = await listed(id, member.token);
  assert.equal(comment.text, "a".repeat(4999));
});

test("erasing a user deletes their comments and reactions and replaces their mentions; threads stay, and recordings under legal hold", async () => {
  const [id, held] = [await shared(), await shared()];
  const gone = await makeUser(db, workspace, { name: "Gwen Gone" });
  const root = await created(id, gone, { text: "Secret of Gwen", timestamp: 100 });
  const reply = await created(id, member, {
    text: "@Gwen Gone, no",
    parent_id: root.id,
    mentions: [gone.id],
  });
  await created(id, gone, { text: "Alone" });
  await manage("PUT", `/comments/${reply.id}/reactions/${encodeURIComponent("🎉")}`, gone.token);
  await manage("POST", `/comments/${root.id}/resolve`, gone.token);
  const kept = await created(held, gone, { text: "Evidence" });
  await manage("PUT", `/recordings/${held}/legal-hold`, admin.token, { reason: "court" });
  const erased = await manage("POST", "/erasures", admin.token, { email: gone.email });
  assert.equal(erased.status, 200, erased.text);
  const [first, second, ...others] = await listed(id, member.token);
  assert.deepEqual([first.author, first.text, first.resolved_by], [null, "", null]);
  assert.deepEqual([second.text, second.mentions, second.reactions], ["@a deleted user, no", [], []]);
  assert.deepEqual(others, []);
  assert.deepEqual(
    (await listed(held, member.token)).map((one) => [one.id, one.text]),
    [[kept.id, "Evidence"]],
  );
  assert.equal((await eventsOf(root.id)).at(-1), "comment_deleted");
});
