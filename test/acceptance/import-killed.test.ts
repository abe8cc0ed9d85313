import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { makeFullWorkspace } from "../../server/connections/imports/test/full-workspace.ts";
import { snapshot } from "../support/api-snapshot.ts";
import { startTestApp } from "../support/app.ts";
import { makeRecording } from "../support/factories.ts";
import { isFullRun } from "../support/full.ts";
import { makeMediaRecording } from "../support/media-recordings.ts";
import { freePort } from "../support/port.ts";
import { parley, prepareServer, type ServerProcess } from "../support/server-process.ts";

const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

/** How many recordings are moved, each fourth with media; set with RECORDINGS. */
const count = Number(process.env.RECORDINGS ?? (isFullRun ? 2000 : 12));
/** How many files are sent to the source at a time. */
const senders = 4;

const source = await startTestApp({ port: await freePort() });
const [target, elsewhere] = await Promise.all([
  prepareServer({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8,::1" } }),
  prepareServer(),
]);
const folder = mkdtempSync(join(tmpdir(), "parley-moved-"));
after(async () => {
  await Promise.all([target.dispose(), elsewhere.dispose()]);
  rmSync(folder, { recursive: true, force: true });
});
const startedAt = performance.now();
const workspace = await makeFullWorkspace(source);
const rest = Array.from({ length: count - 3 }, (_, index) => index).values();
await Promise.all(Array.from({ length: senders }, fillSource));
const setUpSeconds = Math.round((performance.now() - startedAt) / 1000);

/** Adds recordings until the source has all of them. */
async function fillSource(): Promise<void> {
  const { token } = workspace.member;
  for (const index of rest) {
    const start = { start_datetime: new Date(1.6e12 + index * 1000).toISOString() };
    if (index % 4 === 0)
      await makeMediaRecording(source, token, { title: `Sound ${index}`, ...start }, "good-cbr.mp3");
    else
      await makeRecording(source, token, {
        title: `Plain ${index}`,
        ...start,
        participants: [{ name: "Ada", email: "ada@else.example", speaker_key: "s1" }],
      });
  }
}

const access = { PARLEY_IMPORT_TOKEN: workspace.member.token };

/** What a command reports at its end. */
interface Result {
  readonly done: number;
  readonly failed: number;
  readonly counts: { readonly existing: number };
  readonly recordings: number;
  readonly problems: readonly string[];
}

/** Runs a command, killing it once it has done a number of recordings, or earlier where it has fewer to do. */
async function runAndKill(server: ServerProcess, args: readonly string[], killAt: number): Promise<void> {
  const child = spawn(process.execPath, [main, ...args, "--json"], {
    env: { ...process.env, ...server.env, ...access },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  let output = "";
  for await (const chunk of child.stdout) {
    output += chunk;
    const done = [...output.matchAll(/"phase":"(?:import|export)","total":\d+,"done":(\d+)/g)].at(-1)?.[1];
    if (Number(done ?? 0) >= killAt) child.kill("SIGKILL");
  }
  const [code, signal] = await ended;
  if (signal !== "SIGKILL") assert.equal(code, 0, output);
}

/** Runs a command that is killed at some numbers of recordings, and then to its end. */
async function runKilled(
  context: TestContext,
  server: ServerProcess,
  args: readonly string[],
  kills: readonly number[],
): Promise<Result> {
  const since = performance.now();
  for (const killAt of kills) await runAndKill(server, args, killAt);
  const output = await parley({ env: { ...server.env, ...access } }, ...args, "--json");
  const result: Result = JSON.parse(output.split("\n").at(-1) ?? "");
  context.diagnostic(
    `${args[0]}: ${count} recordings in ${Math.round((performance.now() - since) / 1000)} s`,
  );
  return result;
}

/** A workspace with the users of the source. */
async function prepareTwin(server: ServerProcess): Promise<{ id: string; token: string }> {
  const id = await parley(server, "workspace", "create", "--name", "Target");
  const { member, colleague } = workspace;
  const add = (user: { email: string; name: string }, role: string) =>
    parley(
      server,
      ...["user", "create", "--workspace", id],
      "--email",
      user.email,
      "--name",
      user.name,
      "--role",
      role,
    );
  await add(member, "admin");
  await add(colleague, "member");
  return { id, token: await parley(server, "token", "create", "--email", member.email) };
}

/** The source doesn't change any more. */
const original = await snapshot(source, workspace.member.token, { media: true });

async function assertEqualToSource(server: ServerProcess, token: string): Promise<void> {
  const app = { url: server.url, config: { baseUrl: server.url } };
  assert.deepEqual(await snapshot(app, token, { media: true }), original);
}

const moved: { workspaceId?: string } = {};

test(`${count} recordings moved over HTTP, killed twice: each once, equal to the source by the API`, async (context) => {
  context.diagnostic(`the source was filled in ${setUpSeconds} s`);
  const { id, token } = await prepareTwin(target);
  const args = ["import", "--from", "grain", "--base-url", source.url, "--workspace", id];
  const result = await runKilled(context, target, args, [1, Math.floor(count / 2)]);
  assert.equal(result.counts.existing + result.done, count);
  assert.equal(result.failed, 0);
  await target.start();
  await assertEqualToSource(target, token);
  moved.workspaceId = id;
});

test(`${count} recordings exported, killed meanwhile, and imported elsewhere: complete, equal to the source by the API`, async (context) => {
  const from = moved.workspaceId;
  assert.ok(from, "the recordings were moved");
  const half = Math.floor(count / 2);
  // Small exports end before the second kill.
  const kills = isFullRun ? [1, half] : [1];
  const written = await runKilled(context, target, ["export", folder, "--workspace", from], kills);
  assert.deepEqual([written.recordings, written.problems], [count, []]);
  await parley(elsewhere, "export", folder, "--verify");
  const { id, token } = await prepareTwin(elsewhere);
  const result = await runKilled(
    context,
    elsewhere,
    ["import", folder, "--workspace", id],
    isFullRun ? kills : [],
  );
  assert.equal(result.counts.existing + result.done, count);
  assert.equal(result.failed, 0);
  await elsewhere.start();
  await assertEqualToSource(elsewhere, token);
});
