import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { Recording } from "../../contract/recordings/recordings.ts";
import { until } from "../support/until.ts";
import { caseMaker } from "./fuzz/cases.ts";
import { findProblem, parse } from "./fuzz/check-response.ts";
import { type Client, createClient } from "./fuzz/connection.ts";
import { afterUpgrade } from "./fuzz/framing-cases.ts";
import { describeFindings, type Finding } from "./fuzz/report.ts";
import { request } from "./fuzz/request.ts";
import { heavyBodies } from "./fuzz/size-cases.ts";
import { targetsOf } from "./fuzz/targets.ts";
import { createWorld, memoryOf, serverPid, type World } from "./fuzz/world.ts";

/**
 * Sends a thousand malformed requests to a real server. FUZZ_SEED and FUZZ_COUNT choose which and how many; FUZZ_ONLY
 * repeats a single request by its index.
 */
const seed = Number(process.env.FUZZ_SEED ?? 20_261_001);
const count = Number(process.env.FUZZ_COUNT ?? 1000);
const only = process.env.FUZZ_ONLY;

/** Concurrent requests: enough to keep two cores busy. */
const concurrency = 16;

/** The server's maximum memory once the requests have stopped. */
const memoryLimitMb = 700;

const world = await createWorld();
after(() => world.dispose());

describe("malformed requests", async () => {
  const client: Client = createClient(world.port);
  const pid = serverPid();
  const createdBefore = await uploadIds(world);
  const acknowledged = new Set<string>();
  after(() => client.close());

  test(`each of ${count} malformed requests gets a response of the API and never a 5xx (seed ${seed})`, async (t) => {
    const makeCase = caseMaker({ world, targets: targetsOf(world) }, seed);
    const indexes = only === undefined ? Array.from({ length: count }, (_, n) => n) : [Number(only)];
    const findings: Finding[] = [];
    const tally = new Map<string, number>();
    const queue = indexes.values();
    const work = async (): Promise<void> => {
      for (const index of queue) {
        const sent = makeCase(index);
        const finding = await sendOne(world, client, sent).then(
          ({ problem, status, text }) => {
            recordUpload(text, acknowledged);
            tally.set(status, (tally.get(status) ?? 0) + 1);
            return problem === null ? null : { index, request: sent, problem, response: text };
          },
          (error: Error) => ({ index, request: sent, problem: error.message, response: "" }),
        );
        if (finding !== null) findings.push(finding);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    const sorted = [...tally].sort().map(([status, times]) => `${status}: ${times}`);
    t.diagnostic(`responses by status: ${sorted.join(", ")}`);
    assert.ok(findings.length === 0, describeFindings(findings, seed, world.server.output().stderr));
  });

  test("a connection still works after a refused upgrade", {
    skip: only !== undefined,
  }, async () => {
    const one = createClient(world.port, 5000);
    try {
      for (const sent of afterUpgrade({ world, targets: targetsOf(world) })) {
        const { problem } = await sendOne(world, one, sent);
        assert.equal(problem, null, sent.kind);
      }
    } finally {
      one.close();
    }
  });

  test("the server process is alive and ready", async () => {
    await assertAlive(world);
    assert.equal(serverPid(), pid, "the process was restarted");
  });

  test("every created upload returned 200, and none is partially written", async () => {
    const created = (await uploadIds(world)).difference(createdBefore);
    const returned = acknowledged.difference(createdBefore);
    assert.deepEqual(
      [...created.symmetricDifference(returned)],
      [],
      "created without a 200 response, or 200 without a row",
    );
    const { rows } = await world.db.query<Record<string, number>>(`select
      (select count(*)::int from uploads u where media_type = 'transcript'
        and not exists (select 1 from upload_transcripts t where t.upload_id = u.id)) as without_transcript,
      (select count(*)::int from uploads u
        where (select count(*) from events e where e.subject_id = u.id and e.type = 'upload_added') <> 1) as without_event,
      (select count(*)::int from pg_stat_activity
        where datname = current_database() and state like 'idle in transaction%'
          and state_change < now() - interval '5 seconds') as open_transactions`);
    assert.deepEqual(rows[0], { without_transcript: 0, without_event: 0, open_transactions: 0 });
  });

  test("accepted uploads become recordings that can be read in every format", async () => {
    const recordings = await until("no upload is promoting", async () => {
      const { rows } = await world.db.query<{
        status: string;
        recording_id: string | null;
        reason: string | null;
      }>("select status, recording_id, failure_reason as reason from uploads");
      assert.deepEqual(
        rows.filter((row) => row.status === "failure").map((row) => row.reason),
        [],
      );
      const isDone = rows.every((row) => row.status !== "promoting");
      return isDone && rows.map((row) => row.recording_id).filter((id) => id !== null);
    });
    const include = { participants: true, crm: true, highlights: true };
    const queue = recordings.values();
    const work = async (): Promise<void> => {
      for (const id of queue) {
        Recording.parse((await world.call("POST", `/recordings/${id}`, { include })).json());
        for (const form of ["", ".txt", ".vtt", ".srt"])
          await world.call("GET", `/recordings/${id}/transcript${form}`);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
  });

  test(`memory returns below ${memoryLimitMb} MB`, async (t) => {
    t.diagnostic(await assertMemoryReturns(world));
  });
});

/** Reading such a body blocks other requests, so even this is a long time. */
const heavyTimeoutMs = 8000;

describe("the most expensive bodies just below the upload limit", {
  skip: only !== undefined,
}, () => {
  for (const { name, bytes } of heavyBodies) {
    test(`${name}: the server refuses it and stays healthy`, async (t) => {
      // Restarts a crashed server, so that the next body is tested too.
      if (!(await isAlive(world))) {
        await world.server.kill();
        await world.server.start();
      }
      const client = createClient(world.port, heavyTimeoutMs);
      const headers: [string, string][] = [
        ["Authorization", `Bearer ${world.tokens.admin}`],
        ["Public-Api-Version", "2026-10-01"],
      ];
      const parts = { method: "POST", path: "/_/public-api/v2/uploads/create", headers, body: bytes() };
      const started = performance.now();
      const { problem, text } = await sendOne(
        world,
        client,
        request(name, parts, { expects: "4xx" }),
      ).finally(() => client.close());
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      assert.ok(
        problem === null,
        `${problem}\n${text.slice(0, 500)}\n${endOf(world.server.output().stderr)}`,
      );
      t.diagnostic(`response after ${seconds} s: ${text.slice(0, 300)}`);
      await assertAlive(world);
      t.diagnostic(await assertMemoryReturns(world));
    });
  }
});

async function sendOne(world: World, client: Client, sent: Parameters<Client["exchange"]>[0]) {
  const response = await client.exchange(sent);
  if (response === null && !world.server.isRunning) throw new Error("the server process ended");
  return {
    problem: findProblem(sent, response),
    status: String(response?.status ?? "none"),
    text: response?.body.toString() ?? "",
  };
}

/** Remembers an upload named by a response. */
function recordUpload(text: string, acknowledged: Set<string>): void {
  if (!text.includes('"auto_promote"') && !text.includes('"max_upload_bytes"')) return;
  const upload = parse(text) as { id?: unknown; uuid?: unknown } | undefined;
  const id = upload?.id ?? upload?.uuid;
  if (typeof id === "string") acknowledged.add(id);
}

async function uploadIds(world: World): Promise<Set<string>> {
  const { rows } = await world.db.query<{ id: string }>("select id from uploads");
  return new Set(rows.map((row) => row.id));
}

async function assertAlive(world: World): Promise<void> {
  assert.ok(
    await isAlive(world),
    `the server exited or is unhealthy:\n${endOf(world.server.output().stderr)}`,
  );
}

async function isAlive(world: World): Promise<boolean> {
  const statuses = await Promise.all(
    ["/healthz", "/readyz"].map((path) =>
      fetch(world.server.url + path, { signal: AbortSignal.timeout(10_000) }).then(
        (response) => response.status,
        () => null,
      ),
    ),
  );
  return world.server.isRunning && statuses.every((status) => status === 200);
}

function endOf(log: string): string {
  return log.slice(-2500);
}

/** Waits until memory is released. Sends requests meanwhile, because an idle process collects no garbage. */
async function assertMemoryReturns(world: World): Promise<string> {
  const pid = serverPid();
  if (pid === null) return "memory is unknown without /proc";
  const { now } = await until(`the server holds less than ${memoryLimitMb} MB`, async () => {
    await world.call("POST", "/recordings", {});
    const memory = memoryOf(pid);
    return memory.now < memoryLimitMb && memory;
  });
  return `memory of the server: ${now} MB, at most ${memoryOf(pid).peak} MB`;
}
