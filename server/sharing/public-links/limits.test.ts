import assert from "node:assert/strict";
import { test } from "node:test";
import { until, withinOneMinute } from "../../../test/support/until.ts";
import { startLinks } from "./test/public-links.ts";

const { app, makePublic } = await startLinks({ env: { PARLEY_RATE_LIMIT_PER_MINUTE: "200" } });

test("visitors of a link have the rate limit of requests without a token, also for captions, and ten times that for stored files", () =>
  withinOneMinute(async () => {
    const { token } = await makePublic();
    const path = `${app.url}/_/api/v1/shared/${token}`;
    const view = await fetch(path);
    assert.deepEqual([view.status, view.headers.get("x-ratelimit-limit")], [200, "200"]);
    const file = await fetch(`${path}/items/recording/files/captions.vtt`);
    assert.deepEqual([file.status, file.headers.get("x-ratelimit-limit")], [200, "200"]);
    const stored = await fetch(`${path}/items/recording/files/media.mp4`);
    assert.equal(stored.headers.get("x-ratelimit-limit"), "2000");
    const refused = await until("the limit is reached", async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, () => fetch(path)));
      return answers.find((answer) => answer.status === 429);
    });
    assert.ok(Number(refused.headers.get("retry-after")) >= 1);
    assert.equal((await fetch(`${path}/items/recording/files/captions.vtt`)).status, 429);
    assert.notEqual((await fetch(`${path}/items/recording/files/media.mp4`)).status, 429);
  }));
