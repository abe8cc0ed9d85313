import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startTestApp } from "../../../test/support/app.ts";
import {
  makeRecording,
  makeTeam,
  makeUser,
  makeWorkspace,
  unknownId,
} from "../../../test/support/factories.ts";
import { createSigner } from "../../platform/crypto/link-signer.ts";
import { openSecrets } from "../../platform/crypto/secret.ts";
import { findStoryJson } from "./queries.ts";
import { storyLinks } from "./story-json.ts";

const app = await startTestApp({ env: { PARLEY_PAGE_SIZE: "3" } });
const workspace = await makeWorkspace(app.db);
const { admin, member } = workspace;
const colleague = await makeUser(app.db, workspace);
const stranger = await makeWorkspace(app.db);

/** Calls the management API, which has no versions. */
const manage = (method: string, path: string, token: string | null, body?: unknown) =>
  call(app, method, `/_/api/v1${path}`, body, { token, version: null });

/** A highlight of a new recording that the owner of the token alone sees. */
async function makeHighlight(token: string): Promise<{ id: string; recordingId: string }> {
  const { recordingId } = await makeRecording(app, token);
  const body = { text: "Look", timestamp: 0, duration: 1000 };
  const answer = await manage("POST", `/recordings/${recordingId}/highlights`, token, body);
  return { id: answer.body.id, recordingId };
}

async function makeStory(token: string, values: object = {}) {
  const answer = await manage("POST", "/stories", token, { title: "Launch", ...values });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

const idsOf = (story: { highlights: { id: string }[] }) => story.highlights.map((highlight) => highlight.id);

async function eventsOf(storyId: string) {
  return app.db.kysely
    .selectFrom("events")
    .select(["type", "data", "recording_id", "workspace_id"])
    .where("subject_id", "=", storyId)
    .orderBy("id")
    .execute();
}
const typesOf = async (storyId: string) => (await eventsOf(storyId)).map((event) => event.type);

test("create: every field comes back, and Get and List show the same", async () => {
  const [first, second] = [await makeHighlight(member.token), await makeHighlight(member.token)];
  const story = await makeStory(member.token, {
    title: " Launch ",
    description: "How it went",
    banner_image_url: "https://pictures.example/a.jpg",
    tags: ["launch", "Q3", "launch"],
    highlight_ids: [second.id.toUpperCase(), first.id],
  });
  const { id, created_datetime, last_edited_datetime, highlights, ...rest } = story;
  assert.deepEqual(rest, {
    title: "Launch",
    description: "How it went",
    url: `http://parley.test/stories/${id}`,
    public_url: null,
    banner_image_url: "https://pictures.example/a.jpg",
    tags: ["launch", "Q3"],
    can_change: true,
  });
  assert.equal(created_datetime, last_edited_datetime);
  const expected = [];
  for (const highlight of [second, first])
    expected.push((await manage("GET", `/highlights/${highlight.id}`, member.token)).body);
  assert.deepEqual(highlights, expected);
  assert.deepEqual((await manage("GET", `/stories/${id}`, member.token)).body, story);
  assert.deepEqual((await manage("GET", "/stories", member.token)).body.stories[0], story);
  const bare = await makeStory(member.token);
  assert.deepEqual(
    [bare.description, bare.banner_image_url, bare.tags, bare.highlights, bare.public_url],
    ["", null, [], [], null],
  );
});

test("list: newest first, page by page, of the own workspace alone", async () => {
  const own = await makeWorkspace(app.db);
  const made: string[] = [];
  for (let i = 0; i < 7; i++) made.unshift((await makeStory(own.member.token, { title: `Story ${i}` })).id);
  const found: string[] = [];
  const sizes: number[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body } = await manage("GET", `/stories?cursor=${cursor}`, own.token);
    found.push(...body.stories.map((story: { id: string }) => story.id));
    sizes.push(body.stories.length);
    cursor = body.cursor;
  }
  assert.deepEqual([found, sizes], [made, [3, 3, 1]]);
  const broken = await manage("GET", "/stories?cursor=abc", own.token);
  assert.equal(broken.body.error, "invalid_cursor");
  const twice = await manage("GET", "/stories?cursor=a&cursor=b", own.token);
  assert.equal(twice.body.error, "invalid_input");
});

test("invalid input returns every violation and writes nothing", async () => {
  const { id } = await makeStory(member.token);
  const own = await makeHighlight(member.token);
  const hidden = await makeHighlight(colleague.token);
  const foreign = await makeHighlight(stranger.member.token);
  const list = [own.id, hidden.id, own.id.toUpperCase(), foreign.id, unknownId()];
  const wrongIds = ["/highlight_ids/1", "/highlight_ids/2", "/highlight_ids/3", "/highlight_ids/4"];
  const address = `${id}`;
  const cases: [method: string, path: string, body: unknown, pointers: string[]][] = [
    ["POST", "/stories", {}, ["/title"]],
    ["POST", "/stories", { title: " ", tags: [""], public: "yes" }, ["/title", "/tags/0", "/public"]],
    ["POST", "/stories", { title: "x", banner_image_url: "javascript:alert(1)" }, ["/banner_image_url"]],
    ["POST", "/stories", { title: "x", banner_image_url: "https://a:b@c.example/" }, ["/banner_image_url"]],
    ["POST", "/stories", { title: "x", description: "x".repeat(10_001) }, ["/description"]],
    ["POST", "/stories", { title: "x", highlight_ids: ["x"] }, ["/highlight_ids/0"]],
    ["POST", "/stories", { title: "x", highlight_ids: Array(201).fill(own.id) }, ["/highlight_ids"]],
    ["POST", "/stories", { title: "x", highlight_ids: list }, wrongIds],
    ["PATCH", `/stories/${address}`, { highlight_ids: list }, wrongIds],
    ["PATCH", `/stories/${address}`, { title: "" }, ["/title"]],
  ];
  for (const [method, path, body, pointers] of cases) {
    const answer = await manage(method, path, member.token, body);
    assert.deepEqual([answer.status, answer.body.error], [400, "invalid_input"], JSON.stringify(body));
    assert.deepEqual(
      answer.body.violations.map((violation: { pointer: string }) => violation.pointer),
      pointers,
    );
  }
  assert.deepEqual(await typesOf(id), ["story_added"]);
});

test("edit: changes what is named; the same again is no change and no event", async () => {
  const highlights = [];
  for (let i = 0; i < 3; i++) highlights.push((await makeHighlight(member.token)).id);
  const [a = "", b = "", c = ""] = highlights;
  const story = await makeStory(member.token, {
    description: "Text",
    banner_image_url: "https://pictures.example/a.jpg",
    highlight_ids: [a, b],
  });
  const path = `/stories/${story.id}`;
  const edited = await manage("PATCH", path, member.token, {
    title: "Other",
    highlight_ids: [c, a],
    tags: ["t"],
  });
  assert.deepEqual(
    [edited.body.title, edited.body.description, idsOf(edited.body), edited.body.tags],
    ["Other", "Text", [c, a], ["t"]],
  );
  assert.ok(edited.body.last_edited_datetime >= story.last_edited_datetime);
  assert.equal(edited.body.created_datetime, story.created_datetime);
  for (const same of [
    {},
    { title: " Other " },
    { highlight_ids: [c, a] },
    { tags: ["t", "t"] },
    { public: false },
  ])
    assert.deepEqual((await manage("PATCH", path, member.token, same)).body, edited.body);
  const cleared = await manage("PATCH", path, member.token, {
    description: "",
    banner_image_url: "",
    highlight_ids: [],
  });
  assert.deepEqual(
    [cleared.body.description, cleared.body.banner_image_url, cleared.body.highlights],
    ["", null, []],
  );
  assert.deepEqual(await typesOf(story.id), ["story_added", "story_updated", "story_updated"]);
});

test("public: the URL can't be guessed; once revoked it never works again", async () => {
  const story = await makeStory(member.token, { public: true });
  assert.match(story.public_url, /^http:\/\/parley\.test\/s\/[0-9a-f]{64}$/);
  const path = `/stories/${story.id}`;
  assert.equal((await manage("GET", path, colleague.token)).body.public_url, story.public_url);
  const renamed = await manage("PATCH", path, member.token, { title: "Other", public: true });
  assert.equal(renamed.body.public_url, story.public_url);
  assert.equal((await manage("PATCH", path, member.token, { public: false })).body.public_url, null);
  const again = await manage("PATCH", path, member.token, { public: true });
  assert.ok(again.body.public_url && again.body.public_url !== story.public_url);
  const other = await makeStory(member.token, { public: true });
  assert.notEqual(other.public_url.slice(-32), story.public_url.slice(-32));
});

test("permissions: the workspace reads; the creator, admins and workspace tokens change and delete", async () => {
  for (const [who, token, read, change] of [
    ["the creator", member.token, 200, 200],
    ["an admin", admin.token, 200, 200],
    ["a workspace token", workspace.token, 200, 200],
    ["a colleague", colleague.token, 200, 403],
    ["another workspace", stranger.token, 404, 404],
    ["an admin of another workspace", stranger.admin.token, 404, 404],
  ] as const) {
    const { id } = await makeStory(member.token);
    const found = [
      (await manage("GET", `/stories/${id}`, token)).status,
      (await manage("PATCH", `/stories/${id}`, token, { title: who })).status,
      (await manage("DELETE", `/stories/${id}`, token)).status,
    ];
    assert.deepEqual(found, [read, change, change], who);
    assert.deepEqual(
      await typesOf(id),
      change === 200 ? ["story_added", "story_updated", "story_deleted"] : ["story_added"],
    );
  }
});

test("visibility: each reader finds the highlights of what they see, and an editor keeps the others", async () => {
  const inTeam = await makeUser(app.db, workspace);
  const team = await makeTeam(app.db, workspace, [inTeam]);
  const [a, b, c] = [
    await makeHighlight(member.token),
    await makeHighlight(colleague.token),
    await makeHighlight(member.token),
  ];
  const share = (recordingId: string, kind: "users" | "teams", body: object) =>
    call(app, "PUT", `/recordings/${recordingId}/${kind}`, body, { token: workspace.token });
  await share(c.recordingId, "teams", { team_id: team.id });
  const all = [a.id, b.id, c.id];
  const { id } = await makeStory(workspace.token, { highlight_ids: all });
  const path = `/stories/${id}`;
  const readers: [token: string, userId: string, ids: string[]][] = [
    [member.token, member.id, [a.id, c.id]],
    [colleague.token, colleague.id, [b.id]],
    [inTeam.token, inTeam.id, [c.id]],
    [admin.token, admin.id, []],
  ];
  const signer = createSigner(await openSecrets(app.config.secret, app.store, app.db));
  for (const [token, userId, ids] of readers) {
    const links = storyLinks(signer, "http://parley.test", userId);
    const { body, text } = await manage("GET", path, token);
    assert.deepEqual(idsOf(body), ids);
    const listed = (await manage("GET", "/stories", token)).body.stories[0];
    assert.deepEqual(listed, body);
    assert.equal(
      (await findStoryJson(app.db.pool, [id], userId, links)).get(id),
      text.replace(/,"can_change":(?:true|false)}$/, "}"),
    );
  }
  assert.deepEqual(idsOf((await manage("GET", path, workspace.token)).body), all);
  const ofAdmin = storyLinks(signer, "http://parley.test", admin.id);
  const rendered = await findStoryJson(app.db.pool, [id, unknownId()], null, ofAdmin);
  assert.deepEqual([rendered.size, idsOf(JSON.parse(rendered.get(id) ?? ""))], [1, all]);
  assert.equal((await findStoryJson(app.db.pool, [], null, ofAdmin)).size, 0);

  // The admin sees none of them and so removes none.
  await manage("PATCH", path, admin.token, { highlight_ids: [] });
  assert.deepEqual(idsOf((await manage("GET", path, workspace.token)).body), all);
  await share(a.recordingId, "users", { user_id: admin.id });
  await share(c.recordingId, "users", { user_id: admin.id });
  const swapped = await manage("PATCH", path, admin.token, { highlight_ids: [c.id, a.id] });
  assert.deepEqual(idsOf(swapped.body), [c.id, a.id]);
  assert.deepEqual(idsOf((await manage("GET", path, workspace.token)).body), [c.id, b.id, a.id]);
  assert.deepEqual(await typesOf(id), ["story_added", "story_updated"]);
});

test("events: a highlight that is deleted leaves its stories, which are updated, and the story names itself", async () => {
  const { id: highlightId, recordingId } = await makeHighlight(member.token);
  const kept = await makeHighlight(member.token);
  const ids: string[] = [];
  for (let i = 0; i < 2; i++)
    ids.push((await makeStory(member.token, { highlight_ids: [highlightId, kept.id] })).id);
  const untouched = await makeStory(member.token, { highlight_ids: [kept.id] });
  await manage("PATCH", `/highlights/${highlightId}`, member.token, { text: "Other" });
  await manage("DELETE", `/highlights/${highlightId}`, member.token);
  for (const id of ids) {
    const { body } = await manage("GET", `/stories/${id}`, member.token);
    assert.deepEqual(idsOf(body), [kept.id]);
    assert.ok(body.last_edited_datetime > body.created_datetime);
    assert.deepEqual(
      await eventsOf(id),
      ["story_added", "story_updated"].map((type) => ({
        type,
        data: { id },
        recording_id: null,
        workspace_id: workspace.id,
      })),
    );
  }
  assert.deepEqual(await typesOf(untouched.id), ["story_added"]);
  await manage("DELETE", `/recordings/${recordingId}`, member.token);
  assert.equal((await eventsOf(ids[0] ?? "")).length, 2);
});

test("at the same time: edits, deleted highlights and deleted stories get along", async () => {
  const highlights: string[] = [];
  for (let i = 0; i < 4; i++) highlights.push((await makeHighlight(member.token)).id);
  const stories: string[] = [];
  for (let i = 0; i < 3; i++) stories.push((await makeStory(member.token, { highlight_ids: highlights })).id);
  const statuses = await Promise.all([
    ...stories.flatMap((id) =>
      [highlights, highlights.toReversed(), highlights.slice(0, 1)].map(
        async (list) =>
          (await manage("PATCH", `/stories/${id}`, member.token, { highlight_ids: list })).status,
      ),
    ),
    ...highlights
      .slice(2)
      .map(async (id) => (await manage("DELETE", `/highlights/${id}`, member.token)).status),
    manage("DELETE", `/stories/${stories[2]}`, member.token).then((answer) => answer.status),
  ]);
  // 400 names a highlight that was gone already, 404 the story.
  assert.deepEqual(
    statuses.filter((status) => ![200, 400, 404].includes(status)),
    [],
  );
});

test("tokens and ids: none, a wrong one, and ids that name nothing", async () => {
  const { id: known } = await makeStory(member.token);
  for (const [method, path] of [
    ["GET", (id: string) => `/stories/${id}`],
    ["PATCH", (id: string) => `/stories/${id}`],
    ["DELETE", (id: string) => `/stories/${id}`],
  ] as const) {
    const errors = [
      (await manage(method, path(known), null)).body.error,
      (await manage(method, path(known), "parley_pat_x")).body.error,
      (await manage(method, path(unknownId()), member.token)).body.error,
      (await manage(method, path("nonsense"), member.token)).body.error,
    ];
    assert.deepEqual(errors, ["token_missing", "token_invalid", "not_found", "not_found"], method);
  }
  for (const method of ["GET", "POST"])
    assert.equal((await manage(method, "/stories", null)).body.error, "token_missing");
});

test("can_change is what Update Story goes by, for its maker, others, admins, viewers and workspace tokens", async () => {
  const { id } = await makeStory(member.token);
  const once = await makeUser(app.db, workspace);
  const { id: former } = await makeStory(once.token);
  await app.db.pool.query("update users set role = 'viewer' where id = $1", [once.id]);
  for (const [storyId, token, may] of [
    [id, member.token, true],
    [id, colleague.token, false],
    [id, admin.token, true],
    [id, workspace.token, true],
    [former, once.token, false],
  ] as const) {
    assert.equal((await manage("GET", `/stories/${storyId}`, token)).body.can_change, may);
    const { status } = await manage("PATCH", `/stories/${storyId}`, token, { tags: [] });
    assert.equal(status, may ? 200 : 403);
  }
});
