import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../../test/support/app.ts";
import { makeUser, makeWorkspace } from "../../../../test/support/factories.ts";
import type { Principal, Role } from "../../../platform/auth/principal.ts";
import { rulesOf } from "../security/rules.ts";
import { createSession } from "../sign-in/sessions.ts";
import { createCredentialCheck } from "./credential-check.ts";

const app = await startTestApp({ worker: false });
const isStillActive = createCredentialCheck(app.db.pool, () => false);
const workspace = await makeWorkspace(app.db);

test("a request in flight survives a promotion of its user, and ends with a demotion", async () => {
  const user = await makeUser(app.db, workspace);
  const { id } = await app.db.kysely
    .transaction()
    .execute((tx) =>
      createSession(tx, { userId: user.id, method: "password", ip: "192.0.2.1", userAgent: "" }),
    );
  const setRole = (role: Role) =>
    app.db.pool.query("update users set role = $2 where id = $1", [user.id, role]);
  const began = { tokenId: id, role: "member", expiresAt: null } as Principal;
  for (const [role, expected] of [
    ["member", true],
    ["admin", true],
    ["viewer", false],
  ] as const) {
    await setRole(role);
    assert.equal(await isStillActive({ principal: began, ip: "192.0.2.1" }), expected, role);
  }
  await setRole("member");
  const asAdmin: Principal = { ...began, role: "admin" };
  assert.equal(await isStillActive({ principal: asAdmin, ip: "192.0.2.1" }), false, "was an admin");
});

test("a stream ends at the age and idle time of the rules and at its expiry; a request in flight may finish", async () => {
  const user = await makeUser(app.db, workspace);
  const { id } = await app.db.kysely
    .transaction()
    .execute((tx) =>
      createSession(tx, { userId: user.id, method: "password", ip: "192.0.2.1", userAgent: "" }),
    );
  const principal = { tokenId: id, role: "member", expiresAt: null } as Principal;
  const check = async (began = principal) =>
    Promise.all(
      [true, false].map((isOpenEnded) => isStillActive({ principal: began, ip: "192.0.2.1", isOpenEnded })),
    );
  const setRules = (rules: object | null) =>
    app.db.pool.query("update workspaces set security_rules = $2 where id = $1", [workspace.id, rules]);
  assert.deepEqual(await check({ ...principal, expiresAt: new Date(Date.now() - 1) }), [false, true]);
  await setRules({ ...rulesOf(null), session_max_hours: 8, session_idle_minutes: 30 });
  assert.deepEqual(await check(), [true, true]);
  await app.db.pool.query("update sessions set last_used_at = now() - interval '31 minutes' where id = $1", [
    id,
  ]);
  assert.deepEqual(await check(), [false, true], "idle");
  await app.db.pool.query(
    "update sessions set last_used_at = now(), created_at = now() - interval '9 hours' where id = $1",
    [id],
  );
  assert.deepEqual(await check(), [false, true], "old");
  await setRules(null);
  assert.deepEqual(await check(), [true, true]);
});
