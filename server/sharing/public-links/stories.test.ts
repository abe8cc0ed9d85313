import assert from "node:assert/strict";
import { test } from "node:test";
import { call } from "../../../test/support/app.ts";
import { makeRecording, makeUser } from "../../../test/support/factories.ts";
import { findStoryJson } from "../../recordings/stories/queries.ts";
import { storyLinks } from "../../recordings/stories/story-json.ts";
import { addMedia, fixture, reach, settled, startLinks, tokenOf } from "./test/public-links.ts";

const links = await startLinks();
const { app, workspace, stranger, manage, open } = links;
const { member } = workspace;
const colleague = await makeUser(app.db, workspace);

/** A highlight of a new recording of somebody, which the whole workspace sees. */
async function makeHighlight(token: string, text: string): Promise<string> {
  const { recordingId } = await makeRecording(app, token, { title: `Meeting of ${text}` });
  await links.setState(recordingId, "workspace");
  await addMedia(app, recordingId, {
    format: "mp4",
    bytes: fixture("good-faststart.mp4"),
    durationMs: 12_000,
  });
  const body = { text, timestamp: 1000, duration: 1500 };
  return (await manage("POST", `/recordings/${recordingId}/highlights`, token, body)).body.id;
}

async function makeStory(token: string, values: object) {
  const answer = await manage("POST", "/stories", token, { title: "Launch", ...values });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

const storyOf = async (id: string) => (await manage("GET", `/stories/${id}`, member.token)).body;
const linksOf = async (id: string, token = member.token) =>
  (await manage("GET", `/stories/${id}/links`, token)).body.links;
const titles = (view: { items: { title: string }[] }) => view.items.map((item) => item.title);

async function eventsOf(storyId: string): Promise<string[]> {
  const { rows } = await app.db.pool.query("select type from events where subject_id = $1 order by id", [
    storyId,
  ]);
  return rows.map((row) => row.type);
}

test("a story is public exactly when it has a link, and public_url is the address of the first that works", async () => {
  const [a, b] = [await makeHighlight(member.token, "A"), await makeHighlight(member.token, "B")];
  const story = await makeStory(member.token, {
    public: true,
    highlight_ids: [b, a],
    description: "How it went",
    banner_image_url: "https://pictures.example/a.jpg",
  });
  const [link] = await linksOf(story.id);
  assert.deepEqual([link.url, link.kind, link.left_out], [story.public_url, "story", 0]);
  assert.deepEqual(link.created_by, { id: member.id, name: member.name, email: member.email });
  const view = await settled(links, tokenOf(link));
  assert.deepEqual(
    [view.kind, view.title, view.description, view.banner_image_url, titles(view)],
    ["story", "Launch", "How it went", "https://pictures.example/a.jpg", ["B", "A"]],
  );
  assert.deepEqual(
    view.items.map((item: { recording_title: string }) => item.recording_title),
    [null, null],
  );
  for (const item of view.items) assert.equal((await fetch(reach(app, item.media_url))).status, 200);
  assert.doesNotMatch(JSON.stringify(view), /[0-9a-f]{8}-[0-9a-f]{4}-/);

  // A second link does not change public_url; revoking the first makes the second the first.
  const second = (await manage("POST", `/stories/${story.id}/links`, member.token, {})).body;
  assert.equal((await storyOf(story.id)).public_url, link.url);
  assert.deepEqual(await eventsOf(story.id), ["story_added"]);
  await manage("DELETE", `/links/${link.id}`, member.token);
  assert.equal((await storyOf(story.id)).public_url, second.url);
  assert.deepEqual(await eventsOf(story.id), ["story_added", "story_updated"]);
  assert.equal((await open(tokenOf(link))).status, 404);

  // Webhooks receive the same.
  const told = await findStoryJson(
    app.db.pool,
    [story.id],
    null,
    storyLinks(app.signer, "http://parley.test", member.id),
  );
  assert.equal(JSON.parse(told.get(story.id) ?? "").public_url, second.url);

  const closed = await manage("PATCH", `/stories/${story.id}`, member.token, { public: false });
  assert.equal(closed.body.public_url, null);
  assert.deepEqual(await linksOf(story.id), []);
  assert.equal((await open(tokenOf(second))).status, 404);
  const again = await manage("PATCH", `/stories/${story.id}`, member.token, { public: true });
  assert.ok(![null, link.url, second.url].includes(again.body.public_url));
  // Making a link makes the story public, too.
  await manage("PATCH", `/stories/${story.id}`, member.token, { public: false });
  const made = (await manage("POST", `/stories/${story.id}/links`, member.token, {})).body;
  assert.equal((await storyOf(story.id)).public_url, made.url);
  const { rows } = await app.db.pool.query(
    "select action from audit_log where subject_id = $1 and action like 'public_link%' order by id",
    [story.id],
  );
  const [created, revoked] = ["public_link_created", "public_link_revoked"];
  assert.deepEqual(
    rows.map((row) => row.action),
    [created, created, revoked, revoked, created, revoked, created],
  );
});

test("a story shows the highlights that its sharer may share, and counts the others", async () => {
  const [mine, theirs] = [
    await makeHighlight(member.token, "Mine"),
    await makeHighlight(colleague.token, "Theirs"),
  ];
  const story = await makeStory(member.token, { public: true, highlight_ids: [mine, theirs] });
  const token = tokenOf({ url: story.public_url });
  assert.deepEqual(titles((await open(token)).body), ["Mine"]);
  const [link] = await linksOf(story.id);
  assert.equal(link.left_out, 1);
  assert.ok(!(await open(token)).text.includes("Theirs"));

  // A user who may share all highlights approves them.
  const agreed = await manage("PATCH", `/links/${link.id}`, workspace.token, { agree: true });
  assert.deepEqual([agreed.status, agreed.body.left_out], [200, 0]);
  assert.deepEqual(titles((await open(token)).body), ["Mine", "Theirs"]);

  // A highlight added to the story is shown if the user who added it may share it.
  const [another, others] = [
    await makeHighlight(member.token, "Another"),
    await makeHighlight(colleague.token, "Others"),
  ];
  const all = [others, another, mine, theirs];
  await manage("PATCH", `/stories/${story.id}`, member.token, { highlight_ids: all });
  assert.deepEqual(titles((await open(token)).body), ["Another", "Mine", "Theirs"]);
  assert.equal((await linksOf(story.id))[0].left_out, 1);

  // A removed highlight that is added again needs a new approval.
  await manage("PATCH", `/stories/${story.id}`, member.token, { highlight_ids: [mine] });
  await manage("PATCH", `/stories/${story.id}`, member.token, { highlight_ids: [theirs, mine] });
  assert.deepEqual(titles((await open(token)).body), ["Mine"]);
});

test("before a link is made, its story says how much of it a link of the caller would show", async () => {
  const [mine, theirs] = [
    await makeHighlight(member.token, "Mine"),
    await makeHighlight(colleague.token, "Theirs"),
  ];
  const { id } = await makeStory(member.token, {});
  const foreseen = async (token: string) => {
    const { links: made, ...rest } = (await manage("GET", `/stories/${id}/links`, token)).body;
    assert.deepEqual(made, []);
    return rest;
  };
  assert.deepEqual(await foreseen(member.token), { highlights: 0, shareable: 0 });
  await manage("PATCH", `/stories/${id}`, member.token, { highlight_ids: [theirs] });
  assert.deepEqual(await foreseen(member.token), { highlights: 1, shareable: 0 });
  await manage("PATCH", `/stories/${id}`, member.token, { highlight_ids: [theirs, mine] });
  assert.deepEqual(await foreseen(member.token), { highlights: 2, shareable: 1 });
  assert.deepEqual(await foreseen(workspace.token), { highlights: 2, shareable: 2 });
});

test("deleting a highlight or the story takes it out of what is shown", async () => {
  const [a, b] = [await makeHighlight(member.token, "A"), await makeHighlight(member.token, "B")];
  const story = await makeStory(member.token, { public: true, highlight_ids: [a, b] });
  const token = tokenOf({ url: story.public_url });
  const [first] = (await settled(links, token)).items;
  await manage("DELETE", `/highlights/${a}`, member.token);
  assert.deepEqual(titles((await open(token)).body), ["B"]);
  assert.equal((await fetch(reach(app, first.media_url))).status, 404);
  await manage("DELETE", `/stories/${story.id}`, member.token);
  assert.equal((await open(token)).status, 404);
});

test("an expired link is no public_url, and making the story public again gives another", async () => {
  const story = await makeStory(member.token, { public: true });
  await app.db.pool.query(
    "update public_links set expires_at = now() - interval '1 second' where story_id = $1",
    [story.id],
  );
  assert.equal((await storyOf(story.id)).public_url, null);
  const again = await manage("PATCH", `/stories/${story.id}`, member.token, { public: true });
  assert.ok(again.body.public_url && again.body.public_url !== story.public_url);
});

test("permissions: users who may change the story, and no user of another workspace", async () => {
  const story = await makeStory(member.token, { public: true });
  const [link] = await linksOf(story.id);
  for (const [token, expected] of [
    [member.token, 200],
    [workspace.admin.token, 200],
    [workspace.token, 200],
    [colleague.token, 403],
    [stranger.admin.token, 404],
  ] as const) {
    const found = [
      (await manage("GET", `/stories/${story.id}/links`, token)).status,
      (await manage("POST", `/stories/${story.id}/links`, token, {})).status,
      (await manage("PATCH", `/links/${link.id}`, token, { allow_download: true })).status,
    ];
    assert.deepEqual(found, [expected, expected, expected]);
  }
  assert.equal((await manage("DELETE", `/links/${link.id}`, colleague.token)).status, 403);
  const start = await manage("PATCH", `/links/${link.id}`, member.token, { start: 1000 });
  assert.deepEqual([start.status, start.body.violations[0].pointer], [400, "/start"]);
  assert.equal((await call(app, "POST", "/_/api/v1/links", {}, { token: member.token })).status, 404);
});
