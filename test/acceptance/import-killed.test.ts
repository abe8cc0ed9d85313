import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { makeFullWorkspace } from "../../server/imports/test/full-workspace.ts";
import { snapshot } from "../support/api-snapshot.ts";
import { startTestApp } from "../support/app.ts";
import { makeMediaRecording } from "../support/factories.ts";
import { isFullRun } from "../support/full.ts";
import { freePort } from "../support/port.ts";
import { parley, prepareServer } from "../support/server-process.ts";

const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

/** How many recordings are moved, each fourth with media. */
const count = Number(process.env.RECORDINGS ?? (isFullRun ? 2000 : 12));

const source = await startTestApp({ port: await freePort() });
const target = await prepareServer({ env: { PARLEY_HOOKS_ALLOW_ADDRESSES: "127.0.0.0/8,::1" } });
after(() => target.dispose());
const workspace = await makeFullWorkspace(source, Math.floor((count - 3) * 0.75));
for (let index = 0; index < Math.ceil((count - 3) / 4); index += 1)
  await makeMediaRecording(
    source,
    workspace.member.token,
    { title: `Sound ${index}`, start_datetime: new Date(1.6e12 + index * 1000).toISOString() },
    "good-cbr.mp3",
  );

function startImport(workspaceId: string): ChildProcess {
  return spawn(
    process.execPath,
    [main, "import", "--from", "grain", "--base-url", source.url, "--workspace", workspaceId, "--json"],
    {
      env: { ...process.env, ...target.env, PARLEY_IMPORT_TOKEN: workspace.member.token },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
}

/** Kills the command once it has imported a part. */
async function killAfter(child: ChildProcess, recordings: number): Promise<void> {
  const ended = once(child, "close");
  for await (const chunk of child.stdout ?? []) {
    const done = [...String(chunk).matchAll(/"phase":"import","total":\d+,"done":(\d+)/g)].at(-1)?.[1];
    if (Number(done ?? 0) >= recordings) child.kill("SIGKILL");
  }
  const [code, signal] = await ended;
  assert.ok(signal === "SIGKILL" || code === 0, `the import ended with ${code}`);
}

test(`${count} recordings moved over HTTP, killed twice: each once, equal to the source by the API`, async (context) => {
  const email = workspace.member.email;
  const id = await parley(target, "workspace", "create", "--name", "Target");
  for (const [address, name, role] of [
    [email, workspace.member.name, "admin"],
    [workspace.colleague.email, workspace.colleague.name, "member"],
  ] as const)
    await parley(
      target,
      "user",
      "create",
      "--workspace",
      id,
      "--email",
      address,
      "--name",
      name,
      "--role",
      role,
    );
  const token = await parley(target, "token", "create", "--email", email);
  const startedAt = performance.now();
  await killAfter(startImport(id), 1);
  await killAfter(startImport(id), Math.floor(count / 2));
  const last = startImport(id);
  let output = "";
  last.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const [code] = await once(last, "close");
  assert.equal(code, 0, output);
  const result = JSON.parse(output.trim().split("\n").at(-1) ?? "");
  assert.equal(result.counts.existing + result.done, count);
  assert.equal(result.failed, 0);
  context.diagnostic(`${count} recordings in ${Math.round((performance.now() - startedAt) / 1000)} s`);
  await target.start();
  const app = { url: target.url, config: { baseUrl: target.url } };
  assert.deepEqual(
    await snapshot(app, token, { media: true }),
    await snapshot(source, workspace.member.token, { media: true }),
  );
});
