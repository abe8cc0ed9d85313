import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import type { AskEvent } from "../../../contract/ask/ask.ts";
import { startTestApp } from "../../../test/support/app.ts";
import { makeWorkspace } from "../../../test/support/factories.ts";
import { until } from "../../../test/support/until.ts";
import { readConfig } from "../../platform/config/config.ts";
import { makeSpoken } from "../../recordings/search/test/search.ts";
import { findModelState, findQuestionState } from "../intelligence/missing-model.ts";
import { takeMachine } from "../models/engine/machine-lock.ts";
import { installModel } from "../models/install.ts";
import { askQuestion, only } from "./test/asking.ts";

const assets = fileURLToPath(new URL("../../../test/fixtures/language/", import.meta.url));
// One thread waits for no other, which takes long on a busy machine.
const app = await startTestApp({ env: { PARLEY_TRANSCRIPTION_THREADS: "1" } });
const { db, config } = app;
const workspace = await makeWorkspace(db);
const { member } = workspace;
const boats = await makeSpoken(app, member.token, "Harbour", ["The harbour contract is signed on Friday."]);
await installModel(config.dataDir, "tiny", { type: "folder", path: assets });

/** Processes of the engine that this process has started. */
async function engines(): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir("/proc")) {
    const command = await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "");
    const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
    if (command.includes("intelligence/local/child.ts") && stat.split(" ")[3] === String(process.pid))
      found.push(Number(name));
  }
  return found;
}

for (const [role, summaries] of [
  ["all", "not_installed"],
  ["worker", "not_installed"],
  // Its models may be on the machines of the workers.
  ["api", "ready"],
] as const)
  test(`with PARLEY_LLM=local and no model, a process of role ${role} says that summaries are ${summaries}, questions not_installed`, async () => {
    const env = { PARLEY_LLM: "local", PARLEY_ROLE: role, PARLEY_DATA_DIR: join(config.dataDir, "none") };
    const without = readConfig(env, process.cwd());
    const { id } = workspace;
    assert.equal(await findModelState(db.kysely, without, id), summaries);
    assert.equal(await findQuestionState(db.kysely, without, id), "not_installed");
  });

const noEngine = () => until("the engine has ended", async () => (await engines()).length === 0);

for (const scope of [{ recording_id: boats }, {}])
  test(`a question about ${"recording_id" in scope ? "one meeting" : "all meetings"} says what it waits for, and when the wait is over; stopping it ends the engine`, async () => {
    const release = await takeMachine(db.session, "speech", undefined);
    const stop = new AbortController();
    const messages: (string | undefined)[] = [];
    await assert.rejects(
      askQuestion(
        app,
        member.token,
        { question: "When is the harbour contract signed?", ...scope },
        {
          signal: stop.signal,
          onEvent: async ({ event, data }: AskEvent) => {
            if (event !== "searching") return;
            const waited = messages.at(-1) !== undefined;
            messages.push(data.message);
            if (data.message !== undefined) await release();
            else if (waited) stop.abort();
          },
        },
      ),
    );
    assert.deepEqual(messages.slice(-2), [
      "Waiting for the speech engine, which is at work on this machine.",
      undefined,
    ]);
    await noEngine();
  });

test("a built-in model that writes at random shows nothing unproven, and a killed engine ends the answer with a clear state", async () => {
  const ask = () => askQuestion(app, member.token, { question: "harbour", recording_id: boats });
  const random = await until("the lease is free", async () => {
    const asked = await ask();
    return asked.status === 200 && asked;
  });
  assert.deepEqual(only(random, "statement"), []);
  const [done, error] = [only(random, "done")[0], only(random, "error")[0]];
  assert.match(done?.message ?? error?.message ?? "", /^Your meetings don't say\.$|wrong format twice/);
  const asking = ask();
  const [pid] = await until("an engine", async () => {
    const found = await engines();
    return found.length > 0 && found;
  });
  assert.ok(pid);
  process.kill(pid, "SIGKILL");
  const killed = only(await asking, "error")[0];
  assert.deepEqual(
    [killed?.error, killed?.message],
    ["model_failed", "The language engine ended unexpectedly."],
  );
  await noEngine();
  assert.deepEqual(await readdir(`${config.dataDir}/scratch`), []);
});
