import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";
import { insertHook, makeRecording, makeWorkspace } from "../../../test/support/factories.ts";
import { startHookReceiver } from "../../../test/support/hook-receiver.ts";
import { until } from "../../../test/support/until.ts";
import { dumpDatabase, manage } from "../../governance/retention/test/retention.ts";

const app = await startTestApp({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8" } });
const email = "zora@elsewhere.example";

test("a delivery in flight while a participant is erased leaves no trace, and is sent again without the personal data", async () => {
  const { admin } = await makeWorkspace(app.db);
  const receiver = await startHookReceiver();
  await insertHook(app, {
    created_by: admin.id,
    version: "2026-10-01",
    hook_url: receiver.url,
    hook_type: "recording_added",
    include: '{"participants": true}',
  });
  // It returns what it was sent, once the personal data is erased.
  const erased = Promise.withResolvers<void>();
  const bodies: string[] = [];
  receiver.otherwise(async (request, response) => {
    const body = request.body.toString();
    bodies.push(body);
    if (bodies.length === 1) await erased.promise;
    response.end(body);
  });
  await makeRecording(app, admin.token, { participants: [{ name: "Zora Quimby", email }] });
  const [first] = await until("the first payload is on its way", () => bodies.length > 0 && bodies);
  assert.ok(first?.includes(email));
  const { body } = await manage(app, "POST", "/erasures", admin.token, { email });
  await until("the personal data is erased", async () => {
    const answer = await manage(app, "GET", `/erasures/${body.id}`, admin.token);
    return answer.body.status === "done";
  });
  erased.resolve();
  const second = await until("it is sent again", () => bodies[1]);
  assert.ok(second.includes("Erased person") && !second.includes("zora"), second);
  const states = await until("both have a result", async () => {
    const { rows } = await app.db.pool.query(
      "select state, (payload is null) as empty, event_id is null as cut from deliveries order by id",
    );
    return rows.every((row) => row.state !== "pending") ? rows : undefined;
  });
  assert.deepEqual(states, [
    { state: "withheld", empty: true, cut: true },
    { state: "delivered", empty: false, cut: false },
  ]);
  const rows = (await dumpDatabase(app)).toLowerCase();
  assert.equal(rows.includes("zora"), false);
});
