import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { withServer } from "../test/s3-fake.ts";

// Runs alone: it sets the credentials of S3 for the whole process.

process.env.AWS_ACCESS_KEY_ID ??= "none";
process.env.AWS_SECRET_ACCESS_KEY ??= "none";

test("get: a hundred files that clients read slowly keep no other request from the bucket", () =>
  withServer(
    (incoming, response) => {
      response.writeHead(200, { etag: '"abc"', "content-length": "1000000" });
      if (incoming.method === "HEAD") response.end();
      else response.write("the first bytes");
    },
    async (store) => {
      const bodies = await Promise.all(
        Array.from({ length: 100 }, async (_, index) => (await store.get(`k${index}`)).body),
      );
      assert.equal((await store.head("k"))?.size, 1_000_000);
      await Promise.all(bodies.map((body) => Promise.all([once(body, "close"), body.destroy()])));
    },
  ));
