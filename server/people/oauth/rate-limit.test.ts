import assert from "node:assert/strict";
import { test } from "node:test";
import { startTestApp } from "../../../test/support/app.ts";
import {
  isActive,
  makeClient,
  makeOAuthWorkspace,
  obtainTokens,
  refresh,
} from "../../../test/support/oauth.ts";
import { withinOneMinute } from "../../../test/support/until.ts";

const app = await startTestApp({ worker: false, env: { PARLEY_RATE_LIMIT_PER_MINUTE: "5" } });
const workspace = await makeOAuthWorkspace(app);
const { member } = workspace;

test("rate limit: a refresh does not reset the count; another device has its own count", () =>
  withinOneMinute(async () => {
    const client = await makeClient(app, workspace);
    const first = await obtainTokens(app, client, member);
    const other = await obtainTokens(app, client, member);
    for (let count = 1; count <= 4; count += 1) assert.ok(await isActive(app, first.access_token));
    const { body } = await refresh(app, client, first.refresh_token);
    assert.ok(await isActive(app, body.access_token), "the fifth");
    assert.ok(!(await isActive(app, body.access_token)), "the sixth");
    assert.ok(!(await isActive(app, first.access_token)));
    assert.ok(await isActive(app, other.access_token));
  }));
