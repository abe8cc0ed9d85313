import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Recording } from "../../contract/recordings.ts";
import { until } from "../support/until.ts";
import { caseMaker } from "./fuzz/cases.ts";
import { type Client, createClient } from "./fuzz/connection.ts";
import { afterUpgrade } from "./fuzz/framing-cases.ts";
import { faultOf, parse } from "./fuzz/judge.ts";
import { describeFindings, type Finding } from "./fuzz/report.ts";
import { request } from "./fuzz/request.ts";
import { heavyBodies } from "./fuzz/size-cases.ts";
import { targetsOf } from "./fuzz/targets.ts";
import { makeWorld, memoryOf, serverPid, type World } from "./fuzz/world.ts";

/**
 * Malformed requests by the thousand against a real server. FUZZ_SEED and FUZZ_COUNT choose which and how many,
 * FUZZ_ONLY repeats a single one by its index.
 */
const seed = Number(process.env.FUZZ_SEED ?? 20_261_001);
const count = Number(process.env.FUZZ_COUNT ?? 10_000);
const only = process.env.FUZZ_ONLY;

/** Requests under way at once: enough to keep two cores busy. */
const concurrency = 16;

/** What the server may hold of the machine's memory once it is left in peace. */
const memoryLimitMb = 700;

describe("malformed requests", () => {
  let world: World;
  let client: Client;
  let pid: number | null;
  let madeBefore: Set<string>;
  const acknowledged = new Set<string>();

  before(async () => {
    world = await makeWorld();
    client = createClient(world.port);
    pid = serverPid();
    madeBefore = await uploadIds(world);
  });
  after(async () => {
    client.close();
    await world.dispose();
  });

  test(`each of ${count} gets an answer of the API's own, and never a 5xx (seed ${seed})`, async (t) => {
    const makeCase = caseMaker({ world, targets: targetsOf(world) }, seed);
    const indexes = only === undefined ? Array.from({ length: count }, (_, n) => n) : [Number(only)];
    const findings: Finding[] = [];
    const tally = new Map<string, number>();
    const queue = indexes.values();
    const work = async (): Promise<void> => {
      for (const index of queue) {
        const sent = makeCase(index);
        const finding = await sendOne(world, client, sent).then(
          ({ fault, status, text }) => {
            noteUpload(text, acknowledged);
            tally.set(status, (tally.get(status) ?? 0) + 1);
            return fault === null ? null : { index, request: sent, fault, answer: text };
          },
          (error: Error) => ({ index, request: sent, fault: error.message, answer: "" }),
        );
        if (finding !== null) findings.push(finding);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    const sorted = [...tally].sort().map(([status, times]) => `${status}: ${times}`);
    t.diagnostic(`answers by status: ${sorted.join(", ")}`);
    assert.ok(findings.length === 0, describeFindings(findings, seed, world.server.output().stderr));
  });

  test("after an upgrade that was not granted, the connection serves on", {
    skip: only !== undefined,
  }, async () => {
    const one = createClient(world.port, 5000);
    try {
      for (const sent of afterUpgrade({ world, targets: targetsOf(world) })) {
        const { fault } = await sendOne(world, one, sent);
        assert.equal(fault, null, sent.kind);
      }
    } finally {
      one.close();
    }
  });

  test("the process lives on, alive and ready", async () => {
    await assertAlive(world);
    assert.equal(serverPid(), pid, "the process is another one");
  });

  test("every upload made was answered with 200, and none is half written", async () => {
    const made = (await uploadIds(world)).difference(madeBefore);
    const answered = acknowledged.difference(madeBefore);
    assert.deepEqual([...made.symmetricDifference(answered)], [], "made without a 200, or 200 without a row");
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

  test("what was accepted becomes recordings that can be read in every form", async () => {
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

/** While such a body is read nobody else is served, so that even this is much. */
const heavyPatienceMs = 8000;

describe("bodies a little below the upload limit, of the costliest form", {
  skip: only !== undefined,
}, () => {
  let world: World;
  before(async () => {
    world = await makeWorld();
  });
  after(() => world.dispose());

  for (const { name, bytes } of heavyBodies) {
    test(`${name}: refused, and the server stays well`, async (t) => {
      // One that ended the server must not hide what the next one does.
      if (!(await isAlive(world))) {
        await world.server.kill();
        await world.server.start();
      }
      const client = createClient(world.port, heavyPatienceMs);
      const headers: [string, string][] = [
        ["Authorization", `Bearer ${world.tokens.admin}`],
        ["Public-Api-Version", "2026-10-01"],
      ];
      const parts = { method: "POST", path: "/_/public-api/v2/uploads/create", headers, body: bytes() };
      const started = performance.now();
      const { fault, text } = await sendOne(world, client, request(name, parts, { expects: "4xx" })).finally(
        () => client.close(),
      );
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      assert.ok(fault === null, `${fault}\n${text.slice(0, 500)}\n${endOf(world.server.output().stderr)}`);
      t.diagnostic(`answered after ${seconds} s: ${text.slice(0, 300)}`);
      await assertAlive(world);
      t.diagnostic(await assertMemoryReturns(world));
    });
  }
});

async function sendOne(world: World, client: Client, sent: Parameters<Client["exchange"]>[0]) {
  const answer = await client.exchange(sent);
  if (answer === null && !world.server.isRunning) throw new Error("the server process ended");
  return {
    fault: faultOf(sent, answer),
    status: String(answer?.status ?? "none"),
    text: answer?.body.toString() ?? "",
  };
}

/** Remembers an upload that an answer names as such. */
function noteUpload(text: string, acknowledged: Set<string>): void {
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
  assert.ok(await isAlive(world), `the server ended or is unwell:\n${endOf(world.server.output().stderr)}`);
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

/** Waits for the memory to come back; requests go on meanwhile, since an idle process collects no garbage. */
async function assertMemoryReturns(world: World): Promise<string> {
  const pid = serverPid();
  if (pid === null) return "no /proc here to read the memory from";
  const { now } = await until(`the server holds less than ${memoryLimitMb} MB`, async () => {
    await world.call("POST", "/recordings", {});
    const memory = memoryOf(pid);
    return memory.now < memoryLimitMb && memory;
  });
  return `memory of the server: ${now} MB, at most ${memoryOf(pid).peak} MB`;
}
