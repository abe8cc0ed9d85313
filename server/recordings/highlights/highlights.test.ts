import assert from "node:assert/strict";
import { test } from "node:test";
import { call, everyVersion, startTestApp } from "../../../test/support/app.ts";
import {
  makeRecording,
  makeTeam,
  makeUser,
  makeWorkspace,
  type TestUser,
  unknownId,
} from "../../../test/support/factories.ts";

const app = await startTestApp({ env: { PARLEY_PAGE_SIZE: "3" } });
const workspace = await makeWorkspace(app.db);
const { admin, member } = workspace;
const stranger = await makeWorkspace(app.db);

/** Calls the management API, which has no versions. */
const manage = (method: string, path: string, token: string | null, body?: unknown) =>
  call(app, method, `/_/api/v1${path}`, body, { token, version: null });

const clip = { text: "The contract is signed", timestamp: 9000, duration: 2000 };

async function makeHighlight(recordingId: string, token: string, values: object = {}): Promise<string> {
  const { status, body, text } = await manage("POST", `/recordings/${recordingId}/highlights`, token, {
    ...clip,
    ...values,
  });
  assert.equal(status, 200, text);
  return body.id;
}

async function eventsOf(subjectId: string) {
  return app.db.kysely
    .selectFrom("events")
    .select(["type", "data", "recording_id", "audience", "workspace_id"])
    .where("subject_id", "=", subjectId)
    .orderBy("id")
    .execute();
}

const typesOf = async (subjectId: string) => (await eventsOf(subjectId)).map((event) => event.type);

test("create: every field comes back, and Get, List and the recordings of both versions show the same", async () => {
  const { recordingId } = await makeRecording(app, member.token, { title: "Harbour" });
  const created = await manage("POST", `/recordings/${recordingId.toUpperCase()}/highlights`, member.token, {
    ...clip,
    text: "  The contract is signed ",
    tags: ["deal", "Q3", "deal"],
  });
  assert.equal(created.status, 200, created.text);
  const { id, thumbnail_url, created_datetime, ...rest } = created.body;
  assert.deepEqual(rest, {
    recording_id: recordingId,
    ...clip,
    tags: ["deal", "Q3"],
    url: `http://parley.test/highlights/${id}`,
  });
  assert.match(
    thumbnail_url,
    new RegExp(`^http://parley.test/_/media/highlights/${id}/thumbnail.jpg\\?viewer=`),
  );
  assert.ok(Math.abs(Date.parse(created_datetime) - Date.now()) < 60_000);

  assert.deepEqual((await manage("GET", `/highlights/${id}`, member.token)).body, created.body);
  const list = await manage("GET", `/recordings/${recordingId}/highlights`, member.token);
  assert.deepEqual(list.body, { highlights: [created.body], cursor: null });
  for (const version of everyVersion) {
    const include = { highlights: true };
    const options = { token: member.token, version };
    const one = await call(app, "POST", `/recordings/${recordingId}`, { include }, options);
    assert.deepEqual(one.body.highlights, [created.body]);
    const all = await call(app, "POST", "/recordings", { include }, options);
    assert.deepEqual(all.body.recordings[0].highlights, [created.body]);
  }
  const row = await app.db.kysely
    .selectFrom("highlights")
    .select("created_by")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  assert.equal(row.created_by, member.id);
});

test("include: transcript and speakers of the range, in every operation, as they are when asked", async () => {
  const { recordingId } = await makeRecording(app, member.token, {
    participants: [{ name: "Ida", email: `ida@${workspace.domain}`, speaker_key: "s1" }],
  });
  const include = { transcript: true, speakers: true };
  const spoken = {
    transcript: "Unknown Speaker 1: Yes. The harbour contract first.\nIda: It is signed.\n",
    speakers: ["Unknown Speaker 1", "Ida"],
  };
  const pick = ({ transcript, speakers }: Record<string, unknown>) => ({ transcript, speakers });
  const created = await manage("POST", `/recordings/${recordingId}/highlights`, member.token, {
    ...clip,
    timestamp: 4000,
    duration: 8000,
    include,
  });
  assert.deepEqual(pick(created.body), spoken);
  const path = `/highlights/${created.body.id}`;
  assert.deepEqual(
    pick((await manage("GET", `${path}?include=transcript,speakers`, member.token)).body),
    spoken,
  );
  const list = await manage(
    "GET",
    `/recordings/${recordingId}/highlights?include=speakers,transcript`,
    member.token,
  );
  assert.deepEqual(pick(list.body.highlights[0]), spoken);
  const alone = (await manage("GET", `${path}?include=speakers`, member.token)).body;
  assert.deepEqual([alone.speakers, "transcript" in alone], [spoken.speakers, false]);
  const edited = await manage("PATCH", path, member.token, {
    timestamp: 9100,
    duration: 1,
    include: ["transcript"],
  });
  assert.equal(edited.body.transcript, "Ida: It is signed.\n");
  assert.equal("speakers" in edited.body, false);

  // The range ends before the segment begins, and a segment ends before the range begins.
  const gap = await manage("PATCH", path, member.token, { timestamp: 9000, duration: 100, include });
  assert.deepEqual(pick(gap.body), { transcript: "", speakers: [] });
  await app.db.pool.query(
    "insert into transcript_segments (recording_id, position, speaker, start_ms, end_ms, text) values ($1, 99, 'Bo', 9050, 9050, E'Aye\n aye')",
    [recordingId],
  );
  const later = await manage("GET", `${path}?include=transcript`, member.token);
  assert.equal(later.body.transcript, "Bo: Aye aye\n");
});

test("list: in the order of the recording, page by page, and a page of long transcripts ends early", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const starts = [5000, 1000, 3000, 1000, 7000];
  for (const timestamp of starts) await makeHighlight(recordingId, member.token, { timestamp });
  const path = `/recordings/${recordingId}/highlights`;
  const readAll = async (include: string) => {
    const pages: { timestamp: number; id: string }[][] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { body } = await manage("GET", `${path}?cursor=${cursor}${include}`, member.token);
      pages.push(body.highlights);
      cursor = body.cursor;
    }
    return pages;
  };
  const pages = await readAll("");
  assert.deepEqual(
    pages.map((page) => page.map((highlight) => highlight.timestamp)),
    [
      [1000, 1000, 3000],
      [5000, 7000],
    ],
  );
  assert.equal(new Set(pages.flat().map((highlight) => highlight.id)).size, 5);
  await app.db.pool.query(
    "update transcript_segments set text = repeat('x', 3000000) where recording_id = $1 and position = 0",
    [recordingId],
  );
  // Those at 1000, 1000 and 3000 lie in the long segment: two together are too much for one page.
  assert.deepEqual(
    (await readAll("&include=transcript")).map((page) => page.length),
    [1, 1, 3],
  );
  const other = await makeRecording(app, member.token);
  const empty = await manage("GET", `/recordings/${other.recordingId}/highlights`, member.token);
  assert.deepEqual(empty.body, { highlights: [], cursor: null });
});

test("invalid input returns every violation and writes nothing", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const id = await makeHighlight(recordingId, member.token);
  const create = `/recordings/${recordingId}/highlights`;
  const cases: [method: string, path: string, body: unknown, pointers: string[]][] = [
    ["POST", create, {}, ["/text", "/timestamp", "/duration"]],
    ["POST", create, { ...clip, text: "   " }, ["/text"]],
    ["POST", create, { ...clip, text: "x".repeat(501) }, ["/text"]],
    [
      "POST",
      create,
      { ...clip, timestamp: -1, duration: 0, tags: ["a b"] },
      ["/timestamp", "/duration", "/tags/0"],
    ],
    ["POST", create, { ...clip, timestamp: 1.5, duration: "2" }, ["/timestamp", "/duration"]],
    ["POST", create, { ...clip, tags: Array.from({ length: 51 }, (_, i) => `t${i}`) }, ["/tags"]],
    ["POST", create, { ...clip, include: { transcript: "yes" } }, ["/include/transcript"]],
    ["POST", create, { ...clip, timestamp: 12_000 }, ["/timestamp"]],
    ["POST", create, { ...clip, duration: 3001 }, ["/duration"]],
    ["POST", create, { ...clip, timestamp: 2_147_483_647, duration: 2_147_483_647 }, ["/timestamp"]],
    ["PATCH", `/highlights/${id}`, { timestamp: 10_001 }, ["/timestamp"]],
    ["PATCH", `/highlights/${id}`, { duration: 3001 }, ["/duration"]],
    ["PATCH", `/highlights/${id}`, { text: "", tags: "x" }, ["/text", "/tags"]],
    ["GET", `/highlights/${id}?include=everything`, undefined, ["/include"]],
    ["GET", `${create}?include=transcript&include=speakers`, undefined, ["/include"]],
  ];
  for (const [method, path, body, pointers] of cases) {
    const answer = await manage(method, path, member.token, body);
    assert.deepEqual(
      [answer.status, answer.body.error],
      [400, "invalid_input"],
      `${method} ${JSON.stringify(body)}`,
    );
    assert.deepEqual(
      answer.body.violations.map((violation: { pointer: string }) => violation.pointer),
      pointers,
    );
  }
  const fits = await manage("POST", create, member.token, { ...clip, timestamp: 0, duration: 12_000 });
  assert.equal(fits.status, 200);
  const { body } = await manage("GET", `${create}?cursor=abc`, member.token);
  assert.equal(body.error, "invalid_cursor");
  const broken = await call(app, "POST", `/_/api/v1${create}`, undefined, {
    token: member.token,
    version: null,
    raw: "{",
    headers: { "content-type": "application/json" },
  });
  assert.deepEqual([broken.status, broken.body.error], [400, "invalid_json"]);
  assert.deepEqual(await typesOf(id), ["highlight_added"]);
});

test("limit: the thousand and first highlight of a recording is refused until one is deleted", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const id = await makeHighlight(recordingId, member.token);
  await app.db.pool.query(
    `insert into highlights (id, recording_id, workspace_id, text, start_ms, duration_ms)
     select gen_random_uuid(), r.id, r.workspace_id, 'x', 0, 1 from recordings r, generate_series(1, 999)
     where r.id = $1`,
    [recordingId],
  );
  const refused = await manage("POST", `/recordings/${recordingId}/highlights`, member.token, clip);
  assert.deepEqual([refused.status, refused.body.error], [409, "wrong_state"]);
  await manage("DELETE", `/highlights/${id}`, member.token);
  await makeHighlight(recordingId, member.token);
});

test("edit: changes what is named; the same again is no change and no event", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const id = await makeHighlight(recordingId, member.token, { tags: ["a"] });
  const path = `/highlights/${id}`;
  const { body } = await manage("PATCH", path, member.token, {
    text: "Signed",
    timestamp: 10_000,
    tags: ["b", "a"],
  });
  assert.deepEqual(
    [body.text, body.timestamp, body.duration, body.tags],
    ["Signed", 10_000, 2000, ["b", "a"]],
  );
  for (const same of [{}, undefined, { text: " Signed " }, { tags: ["b", "a", "b"] }, { duration: 2000 }])
    assert.deepEqual((await manage("PATCH", path, member.token, same)).body, body);
  assert.deepEqual(await typesOf(id), ["highlight_added", "highlight_updated"]);
  const row = await app.db.kysely
    .selectFrom("highlights")
    .select(["created_at", "updated_at"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  assert.ok(row.updated_at > row.created_at);
});

test("events: added, updated and deleted in this order, each naming highlight and recording", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const id = await makeHighlight(recordingId, member.token);
  await Promise.all(
    Array.from({ length: 5 }, (_, i) =>
      manage("PATCH", `/highlights/${id}`, member.token, { text: `Text ${i}` }),
    ),
  );
  const gone = await manage("DELETE", `/highlights/${id}`, member.token);
  assert.deepEqual(gone.body, { success: true });
  assert.equal((await manage("GET", `/highlights/${id}`, member.token)).status, 404);
  const expected = ["highlight_added", ...Array(5).fill("highlight_updated"), "highlight_deleted"];
  assert.deepEqual(
    await eventsOf(id),
    expected.map((type) => ({
      type,
      data: { id, recording_id: recordingId },
      recording_id: recordingId,
      audience: null,
      workspace_id: workspace.id,
    })),
  );
});

test("rights: who may read, create, change and delete, and who learns nothing", async () => {
  const participant = await makeUser(app.db, workspace);
  const shared = await makeUser(app.db, workspace);
  const inTeam = await makeUser(app.db, workspace);
  const colleague = await makeUser(app.db, workspace);
  const team = await makeTeam(app.db, workspace, [inTeam]);
  const { recordingId } = await makeRecording(app, member.token, {
    participants: [{ name: "P", email: participant.email }],
    team_id: team.id,
  });
  for (const user of [shared, admin])
    await call(app, "PUT", `/recordings/${recordingId}/users`, { user_id: user.id }, { token: member.token });
  const foreign: Record<string, number> = { read: 200, create: 200, change: 403, remove: 403 };
  const all = { read: 200, create: 200, change: 200, remove: 200 };
  const none = { read: 404, create: 404, change: 404, remove: 404 };
  const table: [who: string, token: string, may: Record<string, number>][] = [
    ["the recorder", member.token, all],
    ["an admin who sees it", admin.token, all],
    ["a workspace token", workspace.token, all],
    ["a participant", participant.token, foreign],
    ["a user it is shared with", shared.token, foreign],
    ["a member of its team", inTeam.token, foreign],
    ["a colleague", colleague.token, none],
    ["another workspace", stranger.token, none],
    ["an admin of another workspace", stranger.admin.token, none],
  ];
  for (const [who, token, may] of table) {
    const id = await makeHighlight(recordingId, workspace.token);
    const status = async (method: string, path: string, body?: unknown) =>
      (await manage(method, path, token, body)).status;
    const found = {
      read: await status("GET", `/highlights/${id}`),
      create: await status("POST", `/recordings/${recordingId}/highlights`, clip),
      change: await status("PATCH", `/highlights/${id}`, { text: `By ${who}` }),
      remove: await status("DELETE", `/highlights/${id}`),
    };
    assert.deepEqual(found, may, who);
    assert.equal(await status("GET", `/recordings/${recordingId}/highlights`), may.read, who);
  }
  await refuseOnceUnshared(recordingId, shared);
});

/** The creator of a highlight may change it as long as they can see the recording. */
async function refuseOnceUnshared(recordingId: string, maker: TestUser): Promise<void> {
  const own = await makeHighlight(recordingId, maker.token);
  const changed = await manage("PATCH", `/highlights/${own}`, maker.token, { text: "Mine" });
  assert.equal(changed.status, 200);
  const path = `/recordings/${recordingId}/users/${maker.id}`;
  await call(app, "DELETE", path, undefined, { token: member.token });
  for (const method of ["GET", "PATCH", "DELETE"])
    assert.equal((await manage(method, `/highlights/${own}`, maker.token)).status, 404, method);
}

test("tokens and ids: none, a wrong one, and ids that name nothing", async () => {
  const { recordingId } = await makeRecording(app, member.token);
  const paths: [method: string, path: (id: string) => string, body?: unknown][] = [
    ["GET", (id) => `/recordings/${id}/highlights`],
    ["POST", (id) => `/recordings/${id}/highlights`, clip],
    ["GET", (id) => `/highlights/${id}`],
    ["PATCH", (id) => `/highlights/${id}`, {}],
    ["DELETE", (id) => `/highlights/${id}`],
  ];
  for (const [method, path, body] of paths) {
    const errors = [
      (await manage(method, path(recordingId), null, body)).body.error,
      (await manage(method, path(recordingId), "parley_pat_x", body)).body.error,
      (await manage(method, path(unknownId()), member.token, body)).body.error,
      (await manage(method, path("nonsense"), member.token, body)).body.error,
    ];
    assert.deepEqual(
      errors,
      ["token_missing", "token_invalid", "not_found", "not_found"],
      `${method} ${path("")}`,
    );
  }
});
