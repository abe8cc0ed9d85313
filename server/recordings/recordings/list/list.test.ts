import assert from "node:assert/strict";
import { test } from "node:test";
import { because } from "../../../../contract/causes/causes.ts";
import { type CallOptions, call, everyVersion, startTestApp } from "../../../../test/support/app.ts";
import {
  makeRecording,
  makeTeam,
  makeUser,
  makeWorkspace,
  unknownId,
} from "../../../../test/support/factories.ts";
import { createSession } from "../../../people/accounts/sign-in/sessions.ts";

const app = await startTestApp({ env: { PARLEY_PAGE_SIZE: "3" } });

async function list(token: string, body: object = {}, version?: string) {
  const answer = await call(app, "POST", "/recordings", body, { token, ...(version ? { version } : {}) });
  assert.equal(answer.status, 200, answer.text);
  return answer.body as {
    cursor: string | null;
    recordings: { id: string; title: string; start_datetime: string }[];
  };
}

async function titles(token: string, filter: object): Promise<string[]> {
  return (await list(token, { filter })).recordings.map((recording) => recording.title);
}

test("list: the newest first, a page at a time, to a null cursor, in both versions", async () => {
  const workspace = await makeWorkspace(app.db);
  for (let day = 1; day <= 7; day++)
    await makeRecording(app, workspace.member.token, {
      title: `Day ${day}`,
      start_datetime: `2026-01-0${day}T10:00:00Z`,
    });
  for (const version of everyVersion) {
    const seen: string[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const page = await list(workspace.token, cursor === null ? {} : { cursor }, version);
      assert.ok(page.recordings.length <= 3);
      seen.push(...page.recordings.map((recording) => recording.title));
      cursor = page.cursor;
      pages += 1;
    } while (cursor !== null);
    assert.deepEqual(seen, ["Day 7", "Day 6", "Day 5", "Day 4", "Day 3", "Day 2", "Day 1"]);
    assert.equal(pages, 3);
  }
});

test("list: recordings of one instant are neither skipped nor repeated, also while others come and go", async () => {
  const workspace = await makeWorkspace(app.db);
  const ids = new Set<string>();
  for (let index = 0; index < 8; index++) {
    const made = await makeRecording(app, workspace.member.token, { start_datetime: "2026-02-01T10:00:00Z" });
    ids.add(made.recordingId);
  }
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await list(workspace.token, cursor === null ? {} : { cursor });
    seen.push(...page.recordings.map((recording) => recording.id));
    cursor = page.cursor;
    // A newer one appears above the page, and one that was shown goes.
    await makeRecording(app, workspace.member.token, { start_datetime: "2026-02-02T10:00:00Z" });
    await app.db.kysely
      .deleteFrom("uploads")
      .where("recording_id", "=", seen[0] ?? "")
      .execute();
    await app.db.kysely
      .deleteFrom("recordings")
      .where("id", "=", seen[0] ?? "")
      .execute();
  } while (cursor !== null);
  assert.equal(new Set(seen).size, seen.length);
  assert.deepEqual(new Set(seen), ids);
});

test("list: a full last page carries no cursor", async () => {
  const workspace = await makeWorkspace(app.db);
  for (let index = 0; index < 3; index++) await makeRecording(app, workspace.member.token);
  assert.equal((await list(workspace.token)).cursor, null);
});

test("list: a cursor alone continues with its filter and include; what is sent beside it replaces that part", async () => {
  const workspace = await makeWorkspace(app.db);
  for (let index = 0; index < 8; index++)
    await makeRecording(app, workspace.member.token, {
      title: index % 2 === 0 ? `Budget ${index}` : `Other ${index}`,
      start_datetime: `2026-03-0${index + 1}T10:00:00Z`,
    });
  const asked = { filter: { title_search: "budget" }, include: { participants: true } };
  for (const version of everyVersion) {
    const first = await list(workspace.token, asked, version);
    assert.deepEqual(
      first.recordings.map(({ title }) => title),
      ["Budget 6", "Budget 4", "Budget 2"],
    );
    const second = await list(workspace.token, { cursor: first.cursor }, version);
    assert.deepEqual(
      second.recordings.map(({ title }) => title),
      ["Budget 0"],
    );
    assert.ok(second.recordings.every((recording) => "participants" in recording));
    assert.equal(second.cursor, null);
    // null and an empty text mean the same as nothing.
    assert.deepEqual(
      await list(workspace.token, { cursor: first.cursor, filter: null, include: "" }, version),
      second,
    );
    const others = await list(workspace.token, { cursor: first.cursor, filter: {} }, version);
    assert.deepEqual(
      others.recordings.map(({ title }) => title),
      ["Other 1", "Budget 0"],
    );
    assert.ok(others.recordings.every((recording) => "participants" in recording));
    const bare = await list(workspace.token, { cursor: first.cursor, include: {} }, version);
    assert.deepEqual(
      bare.recordings.map(({ title }) => title),
      ["Budget 0"],
    );
    assert.ok(bare.recordings.every((recording) => !("participants" in recording)));
  }
});

test("list: a changed cursor with parameters is a 400, and one whose filter was too large asks for it", async () => {
  const workspace = await makeWorkspace(app.db);
  for (let index = 0; index < 4; index++) await makeRecording(app, workspace.member.token);
  const { cursor } = await list(workspace.token, { include: { participants: true } });
  const [position, , tag] = String(cursor).split(".");
  const forged = Buffer.from(JSON.stringify({ include: { private_notes: true } })).toString("base64url");
  for (const wrong of [`${position}.${forged}.${tag}`, `${position}.${forged}`, `${cursor}.`, `${cursor}A`]) {
    const response = await call(app, "POST", "/recordings", { cursor: wrong }, { token: workspace.token });
    assert.equal(response.status, 400, wrong);
    assert.equal(response.body.error, "invalid_cursor");
  }
  const sections = Array.from({ length: 500 }, (_, index) => `Section ${index}`);
  const include = { ai_template_sections: { allowed_sections: sections } };
  const large = await list(workspace.token, { include });
  assert.ok((large.cursor?.length ?? 0) < 1000);
  const refused = await call(
    app,
    "POST",
    "/recordings",
    { cursor: large.cursor },
    { token: workspace.token },
  );
  assert.equal(refused.status, 400);
  assert.equal(refused.body.detail, "include is too large for the cursor; send it with each page");
  assert.equal((await list(workspace.token, { cursor: large.cursor, include })).recordings.length, 1);
});

test("list: a cursor that is broken, foreign or changed is a 400", async () => {
  const workspace = await makeWorkspace(app.db);
  for (let index = 0; index < 4; index++) await makeRecording(app, workspace.member.token);
  const { cursor } = await list(workspace.token);
  const uploads = await call(app, "POST", "/uploads", {}, { token: workspace.token });
  for (const wrong of [
    "x",
    "%",
    `${cursor}A`,
    cursor?.slice(2),
    uploads.body.cursor,
    Buffer.from("recordings:1:2").toString("base64url"),
  ]) {
    const answer = await call(app, "POST", "/recordings", { cursor: wrong }, { token: workspace.token });
    assert.equal(answer.status, 400, `${wrong}`);
    assert.equal(answer.body.error, "invalid_cursor");
  }
  const typed = await call(app, "POST", "/recordings", { cursor: 5 }, { token: workspace.token });
  assert.deepEqual(typed.body.violations, [
    { pointer: "/cursor", ...because("wrong_type", { type: "a string" }) },
  ]);
});

test("filter: before_datetime gives what starts after the value, after_datetime what starts at or before it", async () => {
  const workspace = await makeWorkspace(app.db);
  for (const day of ["01", "02", "03"])
    await makeRecording(app, workspace.member.token, {
      title: day,
      start_datetime: `2026-03-${day}T00:00:00Z`,
    });
  const at = "2026-03-02T00:00:00Z";
  assert.deepEqual(await titles(workspace.token, { before_datetime: at }), ["03"]);
  assert.deepEqual(await titles(workspace.token, { after_datetime: at }), ["02", "01"]);
  assert.deepEqual(
    await titles(workspace.token, { before_datetime: "2026-03-01T00:00:00Z", after_datetime: at }),
    ["02"],
  );
  // Forms that clients write: an offset, no zone (UTC), a date alone.
  for (const same of ["2026-03-02T02:00:00+02:00", "2026-03-02T00:00:00.000000", "2026-03-02"])
    assert.deepEqual(await titles(workspace.token, { before_datetime: same }), ["03"], same);
});

test("filter: title_search finds a part of the title, whatever its case and accents, and takes no wildcards", async () => {
  const workspace = await makeWorkspace(app.db);
  for (const title of ["Élan vital", "100% sure_thing", "Straße nach Ærø", "back\\slash"])
    await makeRecording(app, workspace.member.token, { title });
  assert.deepEqual(await titles(workspace.token, { title_search: "ELAN" }), ["Élan vital"]);
  assert.deepEqual(await titles(workspace.token, { title_search: "strasse" }), ["Straße nach Ærø"]);
  assert.deepEqual(await titles(workspace.token, { title_search: "0% s" }), ["100% sure_thing"]);
  assert.deepEqual(await titles(workspace.token, { title_search: "e_t" }), ["100% sure_thing"]);
  assert.deepEqual(await titles(workspace.token, { title_search: "k\\s" }), ["back\\slash"]);
  assert.deepEqual(await titles(workspace.token, { title_search: "nowhere" }), []);
});

test("filter: participant_scope, meeting_type, team; all filters combine with AND", async () => {
  const workspace = await makeWorkspace(app.db);
  const team = await makeTeam(app.db, workspace, [workspace.member]);
  const inside = { name: "In", email: `in@${workspace.domain}` };
  const outside = { name: "Out", email: "out@elsewhere.example" };
  await makeRecording(app, workspace.member.token, {
    title: "internal",
    participants: [inside],
    team_id: team.id,
  });
  await makeRecording(app, workspace.member.token, { title: "external", participants: [inside, outside] });
  assert.deepEqual(await titles(workspace.token, { participant_scope: "internal" }), ["internal"]);
  assert.deepEqual(await titles(workspace.token, { participant_scope: "external" }), ["external"]);
  const types = await call(app, "POST", "/meeting_types", {}, { token: workspace.token });
  const customerMeeting = types.body.meeting_types.find(
    (type: { name: string }) => type.name === "Customer Meeting",
  );
  assert.deepEqual(await titles(workspace.token, { meeting_type: customerMeeting.id }), ["external"]);
  for (const token of [workspace.token, workspace.member.token]) {
    assert.deepEqual(await titles(token, { team: team.id }), ["internal"]);
    assert.deepEqual(await titles(token, { team: team.id.toUpperCase() }), ["internal"]);
    assert.deepEqual(await titles(token, { team: team.id, participant_scope: "external" }), []);
    assert.deepEqual(await titles(token, { team: unknownId(), title_search: "internal" }), []);
  }
});

test("filter: a team of another workspace finds nothing", async () => {
  const [ours, theirs] = [await makeWorkspace(app.db), await makeWorkspace(app.db)];
  const team = await makeTeam(app.db, theirs, [theirs.member]);
  await makeRecording(app, theirs.member.token, { team_id: team.id });
  assert.deepEqual(await titles(ours.token, { team: team.id }), []);
  assert.deepEqual(await titles(ours.member.token, { team: team.id }), []);
});

test("filter: a team the person is not in shows of its recordings those that the person sees", async () => {
  const workspace = await makeWorkspace(app.db);
  const other = await makeUser(app.db, workspace);
  const team = await makeTeam(app.db, workspace, [other]);
  await makeRecording(app, workspace.member.token, { title: "mine", team_id: team.id });
  await makeRecording(app, other.token, { title: "theirs", team_id: team.id });
  assert.deepEqual(await titles(workspace.member.token, { team: team.id }), ["mine"]);
});

test("filter: attendance is hosted for recorders and attended for participants, and needs a personal token", async () => {
  const workspace = await makeWorkspace(app.db);
  const { admin, member } = workspace;
  await makeRecording(app, member.token, {
    title: "hosted by member",
    participants: [{ email: admin.email }],
  });
  assert.deepEqual(await titles(member.token, { attendance: "hosted" }), ["hosted by member"]);
  assert.deepEqual(await titles(member.token, { attendance: "attended" }), []);
  assert.deepEqual(await titles(admin.token, { attendance: "hosted" }), []);
  assert.deepEqual(await titles(admin.token, { attendance: "attended" }), ["hosted by member"]);
  const answer = await call(
    app,
    "POST",
    "/recordings",
    { filter: { attendance: "hosted" } },
    { token: workspace.token },
  );
  assert.equal(answer.status, 400);
  assert.equal(answer.body.violations[0].pointer, "/filter/attendance");
});

test("filter: what is wrong is named, all of it at once; an empty string and null mean absent", async () => {
  const workspace = await makeWorkspace(app.db);
  await makeRecording(app, workspace.member.token, { title: "there" });
  const wrong = await call(
    app,
    "POST",
    "/recordings",
    {
      filter: { before_datetime: "yesterday", participant_scope: "both", team: "x", title_search: 7 },
      include: { crm: "yes" },
    },
    { token: workspace.token },
  );
  assert.equal(wrong.status, 400);
  assert.deepEqual(wrong.body.violations.map((violation: { pointer: string }) => violation.pointer).sort(), [
    "/filter/before_datetime",
    "/filter/participant_scope",
    "/filter/team",
    "/filter/title_search",
    "/include/crm",
  ]);
  const empties = {
    before_datetime: "",
    attendance: "",
    participant_scope: null,
    title_search: "",
    team: "",
    meeting_type: null,
  };
  assert.deepEqual(await titles(workspace.token, empties), ["there"]);
  assert.deepEqual(
    (await list(workspace.token, { cursor: "", filter: null, include: null })).recordings.length,
    1,
  );
});

test("visibility: a person sees what they recorded, got, attended, their team's and the workspace's; nobody else's", async () => {
  const workspace = await makeWorkspace(app.db);
  const [owner, viewer] = [workspace.member, await makeUser(app.db, workspace)];
  const team = await makeTeam(app.db, workspace, [viewer]);
  await makeRecording(app, viewer.token, { title: "recorded" });
  const shared = await makeRecording(app, owner.token, { title: "shared" });
  await call(
    app,
    "PUT",
    `/recordings/${shared.recordingId}/users`,
    { user_id: viewer.id },
    { token: owner.token },
  );
  await makeRecording(app, owner.token, {
    title: "attended",
    participants: [{ email: viewer.email.toUpperCase() }],
  });
  await makeRecording(app, owner.token, { title: "team's", team_id: team.id });
  await makeRecording(app, owner.token, { title: "hidden" });
  const seen = new Set<string>();
  let cursor: string | null = null;
  do {
    const page = await list(viewer.token, cursor === null ? {} : { cursor });
    for (const recording of page.recordings) seen.add(recording.title);
    cursor = page.cursor;
  } while (cursor !== null);
  assert.deepEqual([...seen].sort(), ["attended", "recorded", "shared", "team's"]);
  // An admin's personal token is a person's: it sees no more.
  assert.deepEqual(await titles(workspace.admin.token, {}), []);
});

test("visibility: recordings shared with the workspace are seen by all its members and by nobody else", async () => {
  const shared = await startTestApp({ env: { PARLEY_NEW_RECORDING_SHARE_STATE: "workspace" } });
  const [ours, theirs] = [await makeWorkspace(shared.db), await makeWorkspace(shared.db)];
  const { recordingId } = await makeRecording(shared, ours.member.token);
  const read = (token: string) => call(shared, "POST", `/recordings/${recordingId}`, {}, { token });
  const answer = await read(ours.admin.token);
  assert.equal(answer.status, 200);
  assert.equal(answer.body.share_state, "workspace");
  assert.equal(answer.body.workspace_shared, true);
  for (const token of [theirs.token, theirs.admin.token]) assert.equal((await read(token)).status, 404);
});

test("visibility: who joins later sees what they took part in before, by their email", async () => {
  const workspace = await makeWorkspace(app.db);
  const email = `late@${workspace.domain}`;
  await makeRecording(app, workspace.member.token, { title: "before", participants: [{ email }] });
  const late = await makeUser(app.db, workspace, { email });
  assert.deepEqual(await titles(late.token, {}), ["before"]);
});

test("PARLEY_DATETIME_FILTERS=by-name: before is exclusive, after inclusive, and a session keeps the contract", async () => {
  const byName = await startTestApp({ env: { PARLEY_DATETIME_FILTERS: "by-name" } });
  const { member } = await makeWorkspace(byName.db);
  for (const day of ["01", "02", "03"])
    await makeRecording(byName, member.token, { title: day, start_datetime: `2026-03-${day}T00:00:00Z` });
  const { cookie } = await byName.db.kysely
    .transaction()
    .execute((tx) => createSession(tx, { userId: member.id, method: "password", ip: "::1", userAgent: "" }));
  const titlesOf = async (filter: object, options: CallOptions) =>
    (await call(byName, "POST", "/recordings", { filter }, options)).body.recordings.map(
      (recording: { title: string }) => recording.title,
    );
  const at = "2026-03-02T00:00:00Z";
  for (const version of everyVersion) {
    const byToken = { token: member.token, version };
    assert.deepEqual(await titlesOf({ before_datetime: at }, byToken), ["01"]);
    assert.deepEqual(await titlesOf({ after_datetime: at }, byToken), ["03", "02"]);
    assert.deepEqual(await titlesOf({ after_datetime: at, before_datetime: "2026-03-03" }, byToken), ["02"]);
    const bySession = {
      version,
      headers: { cookie: `parley_session=${cookie}`, origin: "http://parley.test" },
    };
    assert.deepEqual(await titlesOf({ before_datetime: at }, bySession), ["03"]);
    assert.deepEqual(await titlesOf({ after_datetime: at }, bySession), ["02", "01"]);
  }
});

test("datetime_filters per token: each list follows its own, and one that excludes everything says so", async () => {
  const { member } = await makeWorkspace(app.db);
  for (const day of ["01", "02", "03"])
    await makeRecording(app, member.token, { title: day, start_datetime: `2026-03-${day}T00:00:00Z` });
  const issue = async (body: object): Promise<string> => {
    const created = await call(
      app,
      "POST",
      "/_/api/v1/tokens",
      { type: "personal_access_token", name: "client", ...body },
      { token: member.token, version: null },
    );
    assert.equal(
      created.body.datetime_filters,
      "datetime_filters" in body ? body.datetime_filters : "contract",
    );
    return created.body.token;
  };
  const range = { after_datetime: "2026-03-02T00:00:00Z", before_datetime: "2026-03-03T00:00:00Z" };
  const reversed = { before_datetime: range.after_datetime, after_datetime: range.before_datetime };
  for (const [reading, filter, excluding, found] of [
    ["by-name", range, reversed, ["02"]],
    ["contract", reversed, range, ["03"]],
  ] as const) {
    const token = await issue({ datetime_filters: reading });
    for (const version of everyVersion) {
      const matching = await call(app, "POST", "/recordings", { filter }, { token, version });
      assert.deepEqual(
        matching.body.recordings.map(({ title }: { title: string }) => title),
        found,
      );
      assert.equal(matching.headers.get("warning"), null);
      const empty = await call(app, "POST", "/recordings", { filter: excluding }, { token, version });
      assert.equal(empty.status, 200);
      assert.deepEqual(empty.body.recordings, []);
      assert.match(empty.headers.get("warning") ?? "", /^299 parley ".*exclude every recording.*"$/);
      // Many programs send one filter, for what is new.
      const before2026 = { after_datetime: "2026-01-01T00:00:00Z", before_datetime: "2026-01-01T00:00:00Z" };
      const name = reading === "contract" ? "after_datetime" : "before_datetime";
      const none = await call(
        app,
        "POST",
        "/recordings",
        { filter: { [name]: before2026[name] } },
        { token, version },
      );
      assert.deepEqual(none.body.recordings, []);
      assert.match(
        none.headers.get("warning") ?? "",
        new RegExp(
          `^299 parley "no recording matches the filters: .*datetime_filters=${filter === range ? "contract" : "by-name"}"$`,
        ),
      );
      const untitled = await call(
        app,
        "POST",
        "/recordings",
        { filter: { title_search: "unknown" } },
        { token, version },
      );
      assert.deepEqual([untitled.body.recordings, untitled.headers.get("warning")], [[], null]);
    }
  }
  // A token without a choice takes the server's setting.
  await issue({});
});
