import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";
import { makeUser, makeWorkspace } from "../../../test/support/factories.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { anchorChains, readAnchor, replaceAnchor } from "./anchor.ts";
import { eraseFromAudit } from "./erase.ts";
import { pruneAudit } from "./prune.ts";
import { sealAudit } from "./seal.ts";
import { refusal, tamper, verify, writeEntries } from "./test/audit.ts";

const app = await startTestApp({ worker: false });
const { db, store } = app;
const { pool } = db;
const errors: object[] = [];
const log = { error: (detail: object) => void errors.push(detail) };

/** A workspace with a sealed log of so many entries. */
async function makeLog(entries: number): Promise<string> {
  const { id } = await makeWorkspace(db);
  await writeEntries(db, id, entries);
  await sealAudit(db);
  return id;
}

async function expectBroken(id: string, position: number, reason: RegExp): Promise<void> {
  const { broken } = await verify(app, id);
  assert.equal(broken?.position, position, broken?.reason ?? "nothing was found");
  assert.match(broken.reason, reason);
}

test("seal: positions have no gaps in any workspace, even for concurrent entries", async () => {
  const ids = await Promise.all([makeWorkspace(db), makeWorkspace(db)]).then((all) =>
    all.map(({ id }) => id),
  );
  let isWriting = true;
  const encryptors = [1, 2].map(async () => {
    while (isWriting) await sealAudit(db);
  });
  await Promise.all(ids.flatMap((id) => Array.from({ length: 4 }, () => writeEntries(db, id, 50))));
  isWriting = false;
  await Promise.all(encryptors);
  await sealAudit(db);
  for (const id of ids) {
    const report = await verify(app, id);
    assert.deepEqual([report.broken, report.entries, report.position, report.unsealed], [null, 200, 200, 0]);
  }
});

test("seal: an entry whose transaction commits late is not skipped", async () => {
  const { id } = await makeWorkspace(db);
  const late = await pool.connect();
  await late.query("begin");
  await late.query("insert into audit_log (workspace_id, action) values ($1, 'settings_changed')", [id]);
  await writeEntries(db, id, 3);
  await sealAudit(db);
  assert.equal((await verify(app, id)).entries, 3);
  await late.query("commit");
  late.release();
  await sealAudit(db);
  const report = await verify(app, id);
  assert.deepEqual([report.broken, report.entries], [null, 4]);
});

test("seal: hashes are computed as the guide describes, so that anyone can verify them", async () => {
  const id = await makeLog(2);
  const { rows } = await pool.query(
    "select *, details::text as details_text from audit_log where workspace_id = $1 order by position",
    [id],
  );
  let previous = Buffer.alloc(32);
  for (const row of rows) {
    const sha = (...parts: (string | Buffer)[]) => {
      const hash = createHash("sha256");
      for (const part of parts) hash.update(part);
      return hash.digest();
    };
    const who = sha(row.who_salt, JSON.stringify([row.user_email, row.ip, row.user_agent])).toString("hex");
    const details = sha(row.details_salt, row.details_text).toString("hex");
    previous = sha(
      previous,
      JSON.stringify([
        1,
        id,
        Number(row.position),
        row.id,
        row.occurred_at.toISOString(),
        row.action,
        row.user_id,
        row.credential,
        row.credential_id,
        row.subject_type,
        row.subject_id,
        who,
        details,
      ]),
    ) as Buffer<ArrayBuffer>;
    assert.deepEqual(row.hash, previous);
  }
});

test("guards: triggers refuse to update, delete or truncate entries", async () => {
  const id = await makeLog(3);
  await writeEntries(db, id, 1);
  for (const statement of [
    "update audit_log set action = 'signed_in' where workspace_id = $1",
    "update audit_log set details = '{\"n\": 9}' where workspace_id = $1",
    "update audit_log set user_email = 'other@w.example' where workspace_id = $1",
    "update audit_log set occurred_at = now() where workspace_id = $1",
    "update audit_log set position = position + 1000 where workspace_id = $1",
    "update audit_log set position = null, hash = null where workspace_id = $1 and position is not null",
    "update audit_log set who_salt = decode('00', 'hex') where workspace_id = $1",
    "delete from audit_log where workspace_id = $1",
    "update audit_chains set head_position = head_position - 1 where workspace_id = $1",
    "update audit_chains set pruned_position = 2 where workspace_id = $1",
    "delete from audit_chains where workspace_id = $1",
  ])
    assert.match(await refusal(db, statement, [id]), /append-only/, statement);
  for (const table of ["audit_log", "audit_chains"])
    assert.match(await refusal(db, `truncate ${table}`), /append-only/);
  assert.equal((await verify(app, id)).broken, null);
});

const fields: Readonly<Record<string, string>> = {
  action: "'signed_out'",
  occurred_at: "occurred_at + interval '1 ms'",
  user_id: "gen_random_uuid()",
  user_email: "'other@w.example'",
  credential: "'cli'",
  credential_id: "gen_random_uuid()",
  subject_type: "'recording'",
  subject_id: "'x'",
  ip: "'192.0.2.8'",
  user_agent: "null",
  details: `'{"n": 33}'`,
  id: "default",
  hash: "sha256(hash)",
  who_salt: "sha256(who_salt)",
};

for (const [field, value] of Object.entries(fields))
  test(`verify: finds a changed ${field}`, async () => {
    const id = await makeLog(5);
    await tamper(db, `update audit_log set ${field} = ${value} where workspace_id = $1 and position = 3`, [
      id,
    ]);
    await expectBroken(id, 3, /changed, moved or inserted/);
  });

test("verify: finds an entry moved to another workspace", async () => {
  const [id, other] = [await makeLog(4), await makeLog(2)];
  await tamper(
    db,
    "update audit_log set workspace_id = $2, position = 3 where workspace_id = $1 and position = 4",
    [id, other],
  );
  await expectBroken(id, 4, /end is missing/);
  await expectBroken(other, 3, /changed, moved or inserted/);
});

test("verify: finds removed entries, even when later entries are renumbered", async () => {
  const id = await makeLog(6);
  await tamper(db, "delete from audit_log where workspace_id = $1 and position in (2, 3)", [id]);
  await expectBroken(id, 2, /entries 2 to 3 are missing/);
  await tamper(db, "update audit_log set position = position - 2 where workspace_id = $1 and position > 1", [
    id,
  ]);
  await expectBroken(id, 2, /changed, moved or inserted/);
});

test("verify: finds an inserted entry, with a new or an existing position", async () => {
  const id = await makeLog(4);
  await tamper(db, "update audit_log set position = position + 1 where workspace_id = $1 and position = 4", [
    id,
  ]);
  await tamper(
    db,
    `insert into audit_log (workspace_id, action, position, hash)
     select workspace_id, 'signed_in', 4, hash from audit_log where workspace_id = $1 and position = 3`,
    [id],
  );
  await expectBroken(id, 4, /changed, moved or inserted/);

  const other = await makeLog(3);
  await pool.query("drop index audit_log_position");
  await tamper(
    db,
    `insert into audit_log (workspace_id, action, position, hash)
     select workspace_id, 'signed_in', 2, hash from audit_log where workspace_id = $1 and position = 2`,
    [other],
  );
  await expectBroken(other, 3, /two entries have the position 2/);
  await tamper(db, "delete from audit_log where workspace_id = $1 and action = 'signed_in'", [other]);
  await pool.query(
    "create unique index audit_log_position on audit_log (workspace_id, position) where position is not null",
  );
});

test("verify: finds two swapped entries", async () => {
  const id = await makeLog(5);
  await pool.query("drop index audit_log_position");
  await tamper(
    db,
    "update audit_log set position = 5 - position where workspace_id = $1 and position in (2, 3)",
    [id],
  );
  await pool.query(
    "create unique index audit_log_position on audit_log (workspace_id, position) where position is not null",
  );
  await expectBroken(id, 2, /changed, moved or inserted/);
});

test("verify: finds a truncated end by the database's chain head, and by the store's anchor when that was changed too", async () => {
  const id = await makeLog(5);
  await anchorChains(db, store, log, null);
  await tamper(db, "delete from audit_log where workspace_id = $1 and position > 3", [id]);
  await expectBroken(id, 4, /there were 5 entries/);
  await tamper(
    db,
    `update audit_chains c set head_position = 3, head_hash = l.hash
     from audit_log l where c.workspace_id = $1 and l.workspace_id = $1 and l.position = 3`,
    [id],
  );
  await expectBroken(id, 4, /the anchor in the object store counts 5 entries/);
});

test("verify: finds a log rewritten from the start, by the store's anchor", async () => {
  const id = await makeLog(3);
  await anchorChains(db, store, log, null);
  assert.deepEqual((await readAnchor(store, id))?.position, 3);
  await tamper(db, "delete from audit_chains where workspace_id = $1", [id]);
  await tamper(
    db,
    "update audit_log set position = null, hash = null, action = 'x' where workspace_id = $1",
    [id],
  );
  await sealAudit(db);
  await expectBroken(id, 3, /the log was rewritten/);
  const [told] = [errors.length];
  await anchorChains(db, store, log, null);
  assert.ok(errors.length > told, "the worker says so in its log");
  await expectBroken(id, 3, /the log was rewritten/);
  await replaceAnchor(db, store, id);
  assert.equal((await verify(app, id)).broken, null, "taken for right by somebody who knows");
});

test("prune: removes old entries, and the remaining chain verifies", async () => {
  const { id } = await makeWorkspace(db);
  const dayMs = 86_400_000;
  await writeEntries(db, id, 2);
  await tamper(db, "update audit_log set occurred_at = '2020-01-01' where workspace_id = $1", [id]);
  await writeEntries(db, id, 4);
  await sealAudit(db);
  await anchorChains(db, store, log, null);
  assert.equal(await pruneAudit(db, store, dayMs), 2);
  assert.equal(await pruneAudit(db, store, dayMs), 0);
  const report = await verify(app, id, dayMs);
  assert.deepEqual([report.broken, report.pruned, report.entries, report.position], [null, 2, 4, 6]);
  assert.equal((await verify(app, id)).broken, null, "the anchor knows what was pruned");
  await writeEntries(db, id, 2);
  await sealAudit(db);
  assert.equal((await verify(app, id)).position, 8);
  // Everything, but only up to the store's anchor.
  await pruneAudit(db, store, -dayMs);
  const rest = await verify(app, id, -dayMs);
  assert.deepEqual([rest.broken, rest.pruned, rest.entries, rest.position], [null, 6, 2, 8]);
  await writeEntries(db, id, 1);
  await sealAudit(db);
  await anchorChains(db, store, log, -dayMs);
  const last = await verify(app, id);
  assert.deepEqual([last.broken, last.position, (await readAnchor(store, id))?.position], [null, 9, 9]);
});

test("prune: a log that is pruned in part, by a process that then died, verifies also without PARLEY_AUDIT_TTL", async () => {
  const { id } = await makeWorkspace(db);
  await pool.query(
    `insert into audit_log (workspace_id, action, occurred_at)
     select $1, 'settings_changed', '2020-01-01' from generate_series(1, 5001)`,
    [id],
  );
  await sealAudit(db);
  await anchorChains(db, store, log, null);
  const dying: ObjectStore = Object.assign(Object.create(store), {
    put: async (...request: Parameters<ObjectStore["put"]>) => {
      await store.put(...request);
      throw new Error("killed");
    },
  });
  await assert.rejects(pruneAudit(db, dying, 86_400_000), /killed/);
  const { broken, pruned } = await verify(app, id);
  assert.deepEqual([broken, pruned], [null, 5000]);
});

/** Removes an entry as the owner of the database can: renumbers the rest and lets the chain begin after a position. */
async function forgeBeginning(id: string, removed: number, prunedTo: number): Promise<void> {
  await tamper(db, "delete from audit_log where workspace_id = $1 and position <= $2", [id, removed]);
  await tamper(
    db,
    `update audit_log set position = null, hash = null where workspace_id = $1 and position > $2`,
    [id, removed],
  );
  await tamper(
    db,
    `update audit_chains set pruned_position = $2, pruned_hash = sha256('forged'), head_position = $2,
       head_hash = sha256('forged') where workspace_id = $1`,
    [id, prunedTo],
  );
  await sealAudit(db);
}

test("verify: a beginning past the anchored end is refused, and the worker keeps the anchor", async () => {
  const id = await makeLog(5);
  await anchorChains(db, store, log, null);
  const anchor = await readAnchor(store, id);
  await forgeBeginning(id, 3, 10);
  for (const ttlMs of [null, 86_400_000]) {
    const { broken } = await verify(app, id, ttlMs);
    assert.match(broken?.reason ?? "", /begin after entry 10, but the anchor in the object store ends at 5/);
    await anchorChains(db, store, log, ttlMs);
    assert.deepEqual(await readAnchor(store, id), anchor);
  }
});

test("verify: entries that were removed without PARLEY_AUDIT_TTL, or before their age, are missing", async () => {
  const dayMs = 86_400_000;
  const { id } = await makeWorkspace(db);
  await writeEntries(db, id, 1);
  await tamper(db, "update audit_log set occurred_at = '2020-01-01' where workspace_id = $1", [id]);
  await sealAudit(db);
  await anchorChains(db, store, log, dayMs);
  await writeEntries(db, id, 2);
  await sealAudit(db);
  await anchorChains(db, store, log, dayMs);
  await writeEntries(db, id, 1);
  await sealAudit(db);
  const cut = async (position: number): Promise<void> => {
    await tamper(
      db,
      `update audit_chains c set pruned_position = l.position, pruned_hash = l.hash
        from audit_log l where c.workspace_id = $1 and l.workspace_id = $1 and l.position = $2`,
      [id, position],
    );
    await tamper(db, "delete from audit_log where workspace_id = $1 and position <= $2", [id, position]);
  };
  // As pruning does, whose process died before it wrote the anchor.
  await cut(1);
  assert.equal((await verify(app, id, dayMs)).broken, null);
  assert.match((await verify(app, id)).broken?.reason ?? "", /entries 1 to 1 were removed, although/);
  await cut(3);
  const { broken } = await verify(app, id, dayMs);
  assert.match(broken?.reason ?? "", /^entry 3 of .* was removed before the age of PARLEY_AUDIT_TTL$/);
  const kept = await readAnchor(store, id);
  await anchorChains(db, store, log, dayMs);
  assert.deepEqual(await readAnchor(store, id), kept);
});

test("anchor: a short history of earlier ends is kept, and each of them is compared", async () => {
  const { id } = await makeWorkspace(db);
  for (let month = 1; month <= 6; month += 1) {
    await writeEntries(db, id, 1);
    await tamper(
      db,
      "update audit_log set occurred_at = make_timestamptz(2020, $2, 1, 0, 0, 0) where workspace_id = $1 and position is null",
      [id, month],
    );
    await sealAudit(db);
    await anchorChains(db, store, log, null);
  }
  const anchor = await readAnchor(store, id);
  assert.equal(anchor?.position, 6);
  // They are years old, so months apart is too near for most of them.
  assert.deepEqual(
    anchor.earlier.map(({ position }) => position),
    [1],
  );
  await store.put(
    `parley/audit/${id}`,
    Buffer.from(JSON.stringify({ ...anchor, earlier: [{ ...anchor.earlier[0], hash: "1".repeat(64) }] })),
    { contentType: "application/json" },
  );
  await expectBroken(id, 1, /the log was rewritten/);
});

test("erase: removes a user from their entries and from details that name them, and the chain still verifies", async () => {
  const workspace = await makeWorkspace(db);
  const bea = await makeUser(db, workspace, { email: `bea_1@${workspace.domain}` });
  const own = { userId: bea.id, userEmail: bea.email };
  await writeEntries(db, workspace.id, 2, { action: "signed_in" }, own);
  await writeEntries(db, workspace.id, 1, {
    action: "user_invited",
    details: { email: bea.email.toUpperCase() },
  });
  await writeEntries(db, workspace.id, 1, {
    action: "user_invited",
    details: { email: bea.email.replace("_", "x") },
  });
  await sealAudit(db);
  // One that is sealed afterwards.
  await writeEntries(db, workspace.id, 1, { action: "signed_out" }, own);
  const erase = () =>
    db.kysely
      .transaction()
      .execute((tx) => eraseFromAudit(tx, { workspaceId: workspace.id, email: bea.email }));
  assert.equal(await erase(), 4);
  assert.equal(await erase(), 0);
  const { rows } = await pool.query(
    "select user_id, user_email, ip, user_agent, details, who_salt, details_salt, action from audit_log where workspace_id = $1 order by id",
    [workspace.id],
  );
  const text = JSON.stringify(rows).toLowerCase();
  assert.ok(!text.includes(bea.email.toLowerCase()));
  assert.deepEqual(
    rows.map((row) => [row.action, row.user_id, row.ip, row.who_salt === null, row.details_salt === null]),
    [
      ["signed_in", bea.id, null, true, false],
      ["signed_in", bea.id, null, true, false],
      ["user_invited", null, "192.0.2.7", false, true],
      ["user_invited", null, "192.0.2.7", false, false],
      ["signed_out", bea.id, null, true, false],
    ],
  );
  await sealAudit(db);
  const report = await verify(app, workspace.id);
  assert.deepEqual([report.broken, report.entries, report.erased], [null, 5, 4]);
});

test("erase: values inserted in place of erased ones are detected", async () => {
  const id = await makeLog(2);
  await db.kysely
    .transaction()
    .execute((tx) => eraseFromAudit(tx, { workspaceId: id, email: "ann@w.example" }));
  assert.match(
    await refusal(db, "update audit_log set user_email = 'eve@w.example' where workspace_id = $1", [id]),
    /append-only/,
  );
  await pool.query("alter table audit_log drop constraint audit_log_who");
  await tamper(
    db,
    "update audit_log set user_email = 'eve@w.example' where workspace_id = $1 and position = 2",
    [id],
  );
  await expectBroken(id, 2, /an erased value was replaced/);
});
