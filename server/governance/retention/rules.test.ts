import assert from "node:assert/strict";
import { test } from "node:test";
import { because } from "../../../contract/causes/causes.ts";
import { call, startTestApp } from "../../../test/support/app.ts";
import { makeTeam, makeWorkspace, unknownId } from "../../../test/support/factories.ts";
import { until } from "../../../test/support/until.ts";
import { recordingObjectKey } from "../../platform/storage/layout.ts";
import { exists, filesBelow, makeOld, manage } from "./test/retention.ts";

const app = await startTestApp({
  env: { PARLEY_RETENTION_GRACE: "1ms", PARLEY_SWEEP_INTERVAL: "300ms", PARLEY_PAGE_SIZE: "2" },
  recurring: ["apply_retention_rules"],
});
const { pool } = app.db;

interface Preview {
  readonly recordings: number;
  readonly held: number;
  readonly oldest: { id: string; title: string; start_datetime: string }[];
}

async function preview(token: string, conditions: object): Promise<Preview> {
  const { status, body, text } = await manage(app, "POST", "/retention/preview", token, conditions);
  assert.equal(status, 200, text);
  return body;
}

async function makeRule(token: string, conditions: object, more: object = {}): Promise<string> {
  const { status, body, text } = await manage(app, "POST", "/retention/rules", token, {
    name: "Old ones",
    ...conditions,
    ...more,
  });
  assert.equal(status, 200, text);
  return body.id;
}

const allOf = async (workspaceId: string): Promise<string[]> =>
  (await pool.query("select id from recordings where workspace_id = $1 order by id", [workspaceId])).rows.map(
    (row) => row.id,
  );

/** Waits until the worker has gone through all rules once more, from now on. */
async function sweepPasses(): Promise<void> {
  const other = await makeWorkspace(app.db);
  const witness = await makeOld(app, other.admin.token, 20);
  await makeRule(other.admin.token, { older_than_days: 10 });
  await until("the witness is deleted", async () => !(await exists(app, witness)));
}

/** One recording for each combination of conditions that can fail alone. */
async function makeAssortment() {
  const workspace = await makeWorkspace(app.db);
  const { admin, member } = workspace;
  const team = await makeTeam(app.db, workspace, [member]);
  const { rows: types } = await pool.query(
    "select id from meeting_types where workspace_id = $1 and not is_default",
    [workspace.id],
  );
  const typeId: string = types[0].id;
  const outsider = { name: "Out", email: "out@elsewhere.example" };
  const make = async (of: {
    days?: number;
    team?: boolean;
    type?: boolean;
    tag?: string;
    outside?: boolean;
  }) => {
    const id = await makeOld(app, member.token, of.days ?? 40, {
      ...(of.team === false ? {} : { team_id: team.id }),
      ...(of.outside === false ? {} : { participants: [outsider] }),
    });
    const { status, text } = await manage(app, "PATCH", `/recordings/${id}`, member.token, {
      ...(of.type === false ? {} : { meeting_type_id: typeId }),
      tags: of.tag === undefined ? ["other", "Déjà-Vu"] : [of.tag],
    });
    assert.equal(status, 200, text);
    return id;
  };
  const ids = {
    fits: await make({}),
    young: await make({ days: 20 }),
    noTeam: await make({ team: false }),
    otherType: await make({ type: false }),
    otherTag: await make({ tag: "deja-vu" }),
    inside: await make({ outside: false }),
  };
  const conditions = {
    older_than_days: 30,
    team_id: team.id,
    meeting_type_id: typeId,
    tag: "DÉJÀ-VU",
    scope: "external",
  };
  return { workspace, admin, team, typeId, ids, conditions };
}

test("each condition excludes recordings that don't match, and the preview lists what is then deleted", async () => {
  const { workspace, admin, ids, conditions } = await makeAssortment();
  const { older_than_days } = conditions;
  const without = async (of: object): Promise<string[]> =>
    (await preview(admin.token, { older_than_days, ...of })).oldest.map(({ id }) => id).sort();
  const old = Object.values(ids).filter((id) => id !== ids.young);
  const but = (id: string) => old.filter((other) => other !== id).sort();
  assert.deepEqual(await without({}), old.toSorted());
  assert.deepEqual(await without({ team_id: conditions.team_id }), but(ids.noTeam));
  assert.deepEqual(await without({ meeting_type_id: conditions.meeting_type_id }), but(ids.otherType));
  assert.deepEqual(await without({ tag: conditions.tag }), but(ids.otherTag));
  assert.deepEqual(await without({ scope: "external" }), but(ids.inside));
  assert.deepEqual(await without({ scope: "internal" }), [ids.inside]);

  const seen = await preview(admin.token, conditions);
  assert.deepEqual(
    { ...seen, oldest: seen.oldest.map(({ id }) => id) },
    { recordings: 1, held: 0, oldest: [ids.fits] },
  );
  const before = await allOf(workspace.id);
  const stranger = await makeWorkspace(app.db);
  const theirs = await makeOld(app, stranger.admin.token, 400);
  await makeRule(admin.token, conditions);
  await until("what fits is deleted", async () => !(await exists(app, ids.fits)));
  await sweepPasses();
  assert.deepEqual(
    await allOf(workspace.id),
    before.filter((id) => id !== ids.fits),
  );
  assert.ok(await exists(app, theirs), "another workspace is no business of the rule");
});

test("receipts list what was deleted, including files, and so do events and the audit log", async () => {
  const workspace = await makeWorkspace(app.db);
  const { admin, member } = workspace;
  const id = await makeOld(app, member.token, 40);
  for (const name of ["media.mp4", "thumbnail.jpg"])
    await app.store.put(recordingObjectKey(id, name), Buffer.from("bytes"));
  const clip = { text: "Look", timestamp: 0, duration: 1000 };
  const { body: highlight } = await manage(app, "POST", `/recordings/${id}/highlights`, member.token, clip);
  const ruleId = await makeRule(admin.token, { older_than_days: 30 });
  const receipt = await until("there is a whole receipt", async () => {
    const { body } = await manage(app, "GET", "/retention/receipts", admin.token);
    return body.receipts[0]?.receipt.is_complete ? body.receipts[0] : undefined;
  });
  assert.equal(receipt.rule_id, ruleId);
  assert.equal(receipt.rule_name, "Old ones");
  assert.equal(receipt.recording_id, id);
  const { removed } = receipt.receipt;
  assert.deepEqual(
    [removed.recordings, removed.transcript_segments, removed.highlights, removed.uploads, removed.objects],
    [1, 3, 1, 1, 2],
  );
  assert.deepEqual(await filesBelow(app, `recordings/${id}/`), []);
  const { rows: events } = await pool.query(
    "select type, subject_id from events where subject_id in ($1, $2) order by id",
    [id, highlight.id],
  );
  assert.deepEqual(events, [
    { type: "highlight_deleted", subject_id: highlight.id },
    { type: "recording_deleted", subject_id: id },
  ]);
  const { rows: entries } = await pool.query(
    "select action, user_id, credential from audit_log where subject_id in ($1, $2) and action <> 'recording_viewed' order by id",
    [ruleId, id],
  );
  assert.deepEqual(entries, [
    { action: "settings_changed", user_id: admin.id, credential: "personal_access_token" },
    { action: "recording_deleted", user_id: null, credential: null },
  ]);
});

test("a recording added less than a day ago stays, however old it is", async () => {
  const { admin } = await makeWorkspace(app.db);
  const [id, other] = [await makeOld(app, admin.token, 400), await makeOld(app, admin.token, 400)];
  await pool.query("update recordings set created_at = now() - interval '23 hours' where id = $1", [id]);
  assert.equal((await preview(admin.token, { older_than_days: 30 })).recordings, 1);
  await makeRule(admin.token, { older_than_days: 30 });
  await until("the other one is deleted", async () => !(await exists(app, other)));
  await sweepPasses();
  assert.ok(await exists(app, id));
});

test("a legal hold protects a recording from rules and users until it is released", async () => {
  const workspace = await makeWorkspace(app.db);
  const { admin, member } = workspace;
  const id = await makeOld(app, member.token, 40);
  const path = `/recordings/${id}/legal-hold`;
  assert.equal((await manage(app, "PUT", path, member.token, { reason: "x" })).status, 403);
  const stranger = await makeWorkspace(app.db);
  assert.equal((await manage(app, "PUT", path, stranger.admin.token, { reason: "x" })).status, 404);
  const placed = await manage(app, "PUT", path, admin.token, { reason: "Claim 7" });
  assert.equal(placed.status, 200, placed.text);
  assert.equal((await manage(app, "PUT", path, admin.token, { reason: "Claim 8" })).body.reason, "Claim 8");
  assert.deepEqual(await preview(admin.token, { older_than_days: 30 }), {
    recordings: 0,
    held: 1,
    oldest: [],
  });
  await makeRule(admin.token, { older_than_days: 30 });
  await sweepPasses();
  const refused = await manage(app, "DELETE", `/recordings/${id}`, member.token);
  assert.equal(refused.status, 409);
  assert.equal(refused.body.error, "wrong_state");
  assert.match(refused.body.detail, /legal hold/);
  assert.ok(await exists(app, id));
  const { body } = await manage(app, "GET", "/legal-holds", admin.token);
  assert.deepEqual(
    body.legal_holds.map((hold: { recording_id: string; placed_by: string }) => [
      hold.recording_id,
      hold.placed_by,
    ]),
    [[id, admin.id]],
  );
  assert.equal((await manage(app, "DELETE", path, admin.token)).status, 200);
  assert.equal((await manage(app, "DELETE", path, admin.token)).status, 404);
  await until("the rule has its way", async () => !(await exists(app, id)));
  const { rows } = await pool.query(
    "select action from audit_log where subject_id = $1 and action like 'legal_hold%' order by id",
    [id],
  );
  assert.deepEqual(
    rows.map((row) => row.action),
    ["legal_hold_placed", "legal_hold_placed", "legal_hold_released"],
  );
});

test("a disabled rule deletes nothing, and a changed one acts on its new conditions", async () => {
  const { admin } = await makeWorkspace(app.db);
  const id = await makeOld(app, admin.token, 40);
  const rule = await makeRule(admin.token, { older_than_days: 30, tag: "none" }, { enabled: false });
  const change = (body: object) => manage(app, "PATCH", `/retention/rules/${rule}`, admin.token, body);
  assert.equal((await change({ tag: null })).body.tag, null);
  await sweepPasses();
  assert.ok(await exists(app, id), "it is off");
  const { body } = await change({ enabled: true, older_than_days: 50 });
  assert.deepEqual([body.enabled, body.older_than_days, body.tag, body.name], [true, 50, null, "Old ones"]);
  await sweepPasses();
  assert.ok(await exists(app, id), "it is too young");
  await change({ older_than_days: 39 });
  await until("it is deleted", async () => !(await exists(app, id)));
  assert.equal((await manage(app, "DELETE", `/retention/rules/${rule}`, admin.token)).status, 200);
  assert.equal((await change({ name: "x" })).status, 404);
});

test("unknown fields are refused where less said means more done, and nothing is created", async () => {
  const { admin } = await makeWorkspace(app.db);
  const recordingId = await makeOld(app, admin.token, 400);
  const rule = { name: "Old ones", older_than_days: 100 };
  for (const [method, path, body, pointer] of [
    ["POST", "/retention/rules", { ...rule, teamid: unknownId() }, "/teamid"],
    ["POST", "/retention/preview", { older_than_days: 100, media_typ: "video" }, "/media_typ"],
    ["POST", "/erasures", { email: "ada@example.com", recording: "anonymise" }, "/recording"],
    ["POST", "/trash/empty", { deleted_befor: "2026-01-01T00:00:00Z" }, "/deleted_befor"],
    [
      "POST",
      "/recordings/bulk",
      { recording_ids: [recordingId], change: { kind: "delete", only: "x" } },
      "/change/only",
    ],
    ["POST", `/recordings/${recordingId}/links`, { expires: "2026-01-01T00:00:00Z" }, "/expires"],
    ["POST", "/tokens", { type: "personal_access_token", name: "x", expires: "2027-01-01" }, "/expires"],
  ] as const) {
    const response = await manage(app, method, path, admin.token, body);
    assert.equal(response.status, 400, path);
    assert.deepEqual(response.body.violations, [{ pointer, ...because("unknown_field") }]);
  }
  assert.deepEqual((await manage(app, "GET", "/retention/rules", admin.token)).body.rules, []);
  assert.ok(await exists(app, recordingId));
});

test("a rule is deleted with its team or meeting type, so it never becomes broader", async () => {
  const { workspace, admin, ids, team, typeId } = await makeAssortment();
  await makeRule(admin.token, { older_than_days: 100, team_id: team.id });
  await makeRule(admin.token, { older_than_days: 100, meeting_type_id: typeId });
  const rules = async () => (await manage(app, "GET", "/retention/rules", admin.token)).body.rules.length;
  assert.equal(await rules(), 2);
  assert.equal((await manage(app, "DELETE", `/teams/${team.id}`, admin.token)).status, 200);
  assert.equal(await rules(), 1);
  const { rows } = await pool.query("select id from meeting_types where workspace_id = $1 and is_default", [
    workspace.id,
  ]);
  const gone = await manage(
    app,
    "DELETE",
    `/meeting_types/${typeId}?reassign_to=${rows[0].id}`,
    admin.token,
    {
      reassign_to: rows[0].id,
    },
  );
  assert.equal(gone.status, 200, gone.text);
  assert.equal(await rules(), 0);
  await pool.query(
    "update recordings set start_datetime = now() - interval '200 days' where workspace_id = $1",
    [workspace.id],
  );
  await sweepPasses();
  assert.equal((await allOf(workspace.id)).length, Object.keys(ids).length);
});

test("only admins have access, references are validated, and receipts come in pages", async () => {
  const workspace = await makeWorkspace(app.db);
  const { admin, member } = workspace;
  const other = await makeWorkspace(app.db);
  const foreign = await makeTeam(app.db, other);
  const conditions = { older_than_days: 30 };
  for (const [method, path, body] of [
    ["GET", "/retention/rules", undefined],
    ["POST", "/retention/rules", { name: "x", ...conditions }],
    ["POST", "/retention/preview", conditions],
    ["GET", "/retention/receipts", undefined],
    ["GET", "/legal-holds", undefined],
    ["POST", "/erasures", { email: "x@y.example" }],
    ["GET", `/erasures/${unknownId()}`, undefined],
  ] as const)
    assert.equal((await manage(app, method, path, member.token, body)).status, 403, path);
  for (const [fault, pointer] of [
    [{ team_id: foreign.id }, "/team_id"],
    [{ meeting_type_id: unknownId() }, "/meeting_type_id"],
    [{ older_than_days: 0 }, "/older_than_days"],
    [{ tag: " " }, "/tag"],
    [{ scope: "all" }, "/scope"],
  ] as const)
    for (const path of ["/retention/preview", "/retention/rules"]) {
      const { status, body } = await manage(app, "POST", path, admin.token, {
        name: "x",
        ...conditions,
        ...fault,
      });
      assert.equal(status, 400, JSON.stringify(body));
      assert.equal(body.violations[0].pointer, pointer);
    }
  const ids = [await makeOld(app, member.token, 40), await makeOld(app, member.token, 41)];
  ids.push(await makeOld(app, member.token, 42));
  await makeRule(admin.token, conditions);
  await until("all are deleted", async () => (await allOf(workspace.id)).length === 0);
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? "" : `?cursor=${encodeURIComponent(cursor)}`;
    const { body } = await manage(app, "GET", `/retention/receipts${query}`, admin.token);
    assert.ok(body.receipts.length <= 2);
    seen.push(...body.receipts.map((receipt: { recording_id: string }) => receipt.recording_id));
    cursor = body.cursor;
  } while (cursor !== null);
  assert.deepEqual(seen.toSorted(), ids.toSorted());
  assert.deepEqual((await manage(app, "GET", "/retention/receipts", other.admin.token)).body.receipts, []);
  assert.equal((await manage(app, "GET", "/retention/receipts?cursor=x", admin.token)).status, 400);
});

test("a hold shows its recording only to an admin who sees it", async () => {
  const { admin, member, token } = await makeWorkspace(app.db);
  const id = await makeOld(app, member.token, 40);
  const answer = await manage(app, "PUT", `/recordings/${id}/legal-hold`, admin.token, { reason: "A case" });
  assert.equal(answer.body.recording, null);
  const holdsOf = async (credential: string) =>
    (await manage(app, "GET", "/legal-holds", credential)).body.legal_holds;
  assert.equal((await holdsOf(admin.token))[0].recording, null);
  await app.db.pool.query("update recordings set title = 'Seen' where id = $1", [id]);
  const share = await call(app, "PUT", `/recordings/${id}/users`, { user_id: admin.id }, { token });
  assert.equal(share.status, 200, share.text);
  const [hold] = await holdsOf(admin.token);
  assert.deepEqual([hold.recording?.id, hold.recording?.title], [id, "Seen"]);
});
