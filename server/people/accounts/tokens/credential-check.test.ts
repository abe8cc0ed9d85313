import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../../test/support/app.ts";
import { makeUser, makeWorkspace } from "../../../../test/support/factories.ts";
import type { Principal, Role } from "../../../platform/auth/principal.ts";
import { createSession } from "../sign-in/sessions.ts";
import { createCredentialCheck } from "./credential-check.ts";

const app = await startTestApp({ worker: false });
const isStillActive = createCredentialCheck(app.db.pool);
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
  const began = { tokenId: id, role: "member" } as Principal;
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
