import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { test } from "node:test";
import { setS3Credentials } from "../../../../test/support/s3-credentials.ts";
import { testStorage } from "../../../operations/system/health/test-component.ts";
import { ObjectExistsError, StoreLacksError } from "../store.ts";
import { withServer } from "../test/s3-fake.ts";

setS3Credentials();

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

type Conditions = "respects" | "refuses" | "ignores";

/** The status by which a bucket refuses a conditional request; null: it does not. */
function refusalOf(conditions: Conditions, isConditional: boolean, isTaken: boolean): number | null {
  if (!isConditional || conditions === "ignores") return null;
  if (conditions === "refuses") return 501;
  return isTaken ? 412 : null;
}

/** A bucket that treats `If-None-Match` as S3, as Backblaze B2, or as servers that don't know it; for parts apart. */
function bucketThat(conditions: Conditions, forParts = conditions) {
  const objects = new Map<string, { bytes: Buffer; mark: string }>();
  return async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(incoming.url ?? "", "http://store.test");
    const { headers, method } = incoming;
    const bytes = await buffer(incoming);
    const end = (status: number, body: string | Buffer = "", mark = "") =>
      void response.writeHead(status, { etag: '"e"', "x-amz-meta-parley-mark": mark }).end(body);
    const found = objects.get(pathname);
    const rule = method === "POST" ? forParts : conditions;
    const refusal = refusalOf(rule, headers["if-none-match"] === "*", found !== undefined);
    if (refusal !== null)
      return end(refusal, `<E><Code>${refusal === 501 ? "NotImplemented" : "X"}</Code></E>`);
    if (searchParams.has("uploads")) return end(200, "<R><UploadId>1</UploadId></R>");
    if (method === "DELETE" || searchParams.has("partNumber")) return end(200);
    if (searchParams.has("list-type")) {
      const keys = [...objects.keys()].map((path) => `<Key>${path.slice("/b/".length)}</Key>`);
      return end(200, `<L>${keys.map((key) => `<Contents>${key}</Contents>`).join("")}</L>`);
    }
    if (method === "PUT" || method === "POST") {
      objects.set(pathname, { bytes, mark: String(headers["x-amz-meta-parley-mark"]) });
      return end(200, method === "POST" || "x-amz-copy-source" in headers ? "<R></R>" : "");
    }
    if (found === undefined) return end(404);
    if (method === "HEAD") return end(200, "", found.mark);
    return headers.range === undefined ? end(200, found.bytes) : end(206, found.bytes.subarray(1, 4));
  };
}

test("probe: a store without conditional writes is refused in one sentence that says so", async () => {
  const config = { dataDir: "/srv/data", s3: null };
  for (const [conditions, forParts, words] of [
    [
      "refuses",
      "respects",
      /^the bucket b at .* has no conditional writes \(If-None-Match is refused: 501 NotImplemented\)/,
    ],
    ["ignores", "respects", /has no conditional writes \(it ignores If-None-Match\)/],
    ["respects", "refuses", /has no conditional writes \(If-None-Match is refused: 501/],
  ] as const)
    await withServer(bucketThat(conditions, forParts), async (store) => {
      await assert.rejects(
        store.probe(),
        (error) => error instanceof StoreLacksError && words.test(error.message),
      );
      const { state, explanation, remedy } = await testStorage(store, config);
      assert.equal(state, "failing");
      assert.match(explanation, /has no conditional writes/);
      assert.doesNotMatch(remedy ?? "", /credentials/);
    });
  await withServer(bucketThat("respects"), (store) => store.probe());
});

test("backups: a store without conditional writes keeps what is there already", async () => {
  for (const conditions of ["respects", "refuses", "ignores"] as const)
    await withServer(
      bucketThat(conditions),
      async (store) => {
        await store.probe();
        await store.put("installation", Buffer.from("one"), { ifAbsent: true });
        await assert.rejects(
          store.put("installation", Buffer.from("two"), { ifAbsent: true }),
          ObjectExistsError,
        );
        const { body } = await store.get("installation");
        assert.equal(String(await buffer(body)), "one", conditions);
      },
      { mayLackConditions: true },
    );
});
