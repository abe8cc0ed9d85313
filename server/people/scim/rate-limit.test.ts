import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";
import { makeWorkspace } from "../../../test/support/factories.ts";
import { withinOneMinute } from "../../../test/support/until.ts";
import { makeScimToken, scimClient } from "./test/scim.ts";

const app = await startTestApp({ worker: false, env: { PARLEY_RATE_LIMIT_PER_MINUTE: "5" } });

test("rate limit: each SCIM token has its own, with a SCIM error and Retry-After; guesses share that of their network", () =>
  withinOneMinute(async () => {
    const workspace = await makeWorkspace(app.db);
    const [one, other] = [await makeScimToken(app.db, workspace), await makeScimToken(app.db, workspace)];
    const send = scimClient(app, one.token);
    for (let count = 1; count <= 5; count += 1)
      assert.equal((await send("GET", "/Users?count=1")).status, 200);
    const refused = await send("GET", "/Users?count=1");
    assert.deepEqual([refused.status, refused.body.status], [429, "429"]);
    assert.deepEqual(refused.body.schemas, ["urn:ietf:params:scim:api:messages:2.0:Error"]);
    assert.ok(Number(refused.headers.get("retry-after")) > 0);
    assert.equal((await scimClient(app, other.token)("GET", "/Users?count=1")).status, 200);
    const guesses = ["a", "b", "c", "d", "e", "f"].map((letter) => `parley_scim_${letter.repeat(43)}`);
    const statuses: number[] = [];
    for (const guess of guesses) statuses.push((await scimClient(app, guess)("GET", "/Users")).status);
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429]);
  }));
