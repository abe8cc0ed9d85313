import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { openAsBlob, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { generate } from "openapi-typescript-codegen";
import { everyVersion, olderVersion } from "../support/call.ts";
import { mediaFile } from "../support/factories.ts";
import { makeClient, obtainCode } from "../support/oauth.ts";
import { until } from "../support/until.ts";
import { startClientSetup } from "./client-setup.ts";

/** A method of the generated client. */
// biome-ignore lint/suspicious/noExplicitAny: the client is generated when the test runs, so its types are checked apart.
type Method = (options: Record<string, unknown>) => Promise<any>;
type Services = Record<string, Record<string, Method>>;

const tsc = fileURLToPath(new URL("../../node_modules/.bin/tsc", import.meta.url));
const { app, workspace, folder, hookUrl } = await startClientSetup();
const { member } = workspace;
writeFileSync(join(folder, "package.json"), "{}");

for (const version of everyVersion)
  test(`a client of another generator compiles and calls every operation of ${version}`, async () => {
    const input = fileURLToPath(new URL(`../../packages/openapi/${version}.json`, import.meta.url));
    const { run, called } = await openClient(version, input);
    const recordingId = version === olderVersion ? await uploadInOneStep(run) : await uploadInSteps(run);
    await useRecording(run, recordingId);
    const hook = await run("createHook", {
      requestBody: { hook_url: hookUrl, hook_type: "recording_updated" },
    });
    const { hooks } = await run("listHooks", { requestBody: {} });
    assert.ok(hooks.some(({ id }: { id: string }) => id === hook.id));
    await run("deleteHook", { hookId: hook.id });
    await run("listMeetingTypes", { requestBody: {} });
    await useOAuth(run);

    const { paths } = JSON.parse(readFileSync(input, "utf8")) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    const operations = Object.values(paths).flatMap((path) => Object.values(path));
    assert.deepEqual(
      [...called].toSorted(),
      operations.map(({ operationId }) => methodOf(operationId)).toSorted(),
    );
  });

function methodOf(operationId: string): string {
  return operationId.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Generates a client, compiles it strictly, and opens it. */
async function openClient(version: string, input: string): Promise<{ run: Run; called: Set<string> }> {
  const source = join(folder, `client-${version}`);
  await generate({ input, output: source, clientName: "Client", useOptions: true });
  const build = join(folder, `client-${version}-built`);
  // One checker, since each resolves the same libraries.
  const types = ["--checkers", "1", "--strict", "--skipLibCheck", "--types", ""];
  const target = ["--target", "es2022", "--lib", "es2022,dom"];
  const modules = ["--module", "nodenext", "--rootDir", source, "--outDir", build];
  const files = [join(source, "index.ts")];
  execFileSync(tsc, [...types, ...target, ...modules, ...files], { cwd: folder, stdio: "inherit" });
  const { Client } = createRequire(import.meta.url)(build) as { Client: new (options: object) => Services };
  const client = new Client({ BASE: app.url, TOKEN: member.token });
  const called = new Set<string>();
  const run: Run = (name, options = {}) => {
    const service = Object.values(client).find((candidate) => typeof candidate[name] === "function");
    assert.ok(service?.[name], `${name} is missing`);
    called.add(name);
    return service[name](options);
  };
  return { run, called };
}

type Run = (name: string, options?: Record<string, unknown>) => ReturnType<Method>;

async function uploadInOneStep(run: Run): Promise<string> {
  const { url } = await run("uploadRecording", { requestBody: { filename: "In one step.mp4" } });
  await sendFile(run, url);
  return until("the recording", async () => {
    // It started before the others of the setup, so it is not on the first page of all.
    const requestBody = { filter: { title_search: "In one step" } };
    const { recordings } = await run("listRecordings", { requestBody });
    return recordings.find(({ media_type }: { media_type: string }) => media_type === "video")?.id;
  });
}

async function uploadInSteps(run: Run): Promise<string> {
  const title = "In steps";
  const upload = await run("createUpload", {
    requestBody: { media_type: "video", auto_promote: false, attributes: { title } },
  });
  await sendFile(run, upload.media.upload.url);
  const status = async (): Promise<string> =>
    (await run("getUpload", { uploadId: upload.id, requestBody: {} })).status;
  await until("the upload is staged", async () => (await status()) === "staged");
  await run("updateUpload", {
    uploadId: upload.id,
    requestBody: { attributes: { title: "In many steps" } },
  });
  await run("promoteUpload", { uploadId: upload.id, requestBody: {} });
  await until("the upload is a recording", async () => (await status()) === "success");
  const { uploads } = await run("listUploads", { requestBody: { filter: { media_type: "video" } } });
  assert.equal((await run("tokenInfo")).scope, "personal");
  await run("listRecordings", { requestBody: { filter: { title_search: "many steps" } } });
  return uploads[0].recording_id;
}

async function sendFile(run: Run, url: string): Promise<void> {
  const { pathname, searchParams } = new URL(url);
  await run("putUploadFile", {
    uploadId: pathname.split("/").at(-1),
    ...Object.fromEntries(searchParams),
    ifNoneMatch: "*",
    requestBody: await openAsBlob(mediaFile("good-faststart.mp4")),
  });
}

async function useRecording(run: Run, recordingId: string): Promise<void> {
  await run("updateRecording", { recordingId, requestBody: { title: "Renamed" } });
  await run("addTag", { recordingId, requestBody: { tag: "generated" } });
  const { teams } = await run("listTeams", { requestBody: {} });
  const teamId = teams[0].id;
  await run("shareToTeam", { recordingId, requestBody: { team_id: teamId } });
  const { users } = await run("listUsers", { requestBody: {} });
  const userId = users.find(({ id }: { id: string }) => id !== member.id).id;
  await run("shareToUser", { recordingId, requestBody: { user_id: userId } });
  const recording = await run("getRecording", {
    recordingId,
    requestBody: { include: { participants: true } },
  });
  assert.equal(recording.title, "Renamed");
  assert.deepEqual(recording.tags, ["generated"]);
  await run("unshareFromUser", { recordingId, userId });
  await run("unshareFromTeam", { recordingId, teamId });
  await run("removeTag", { recordingId, tag: "generated" });
  assert.ok(Array.isArray(await run("getTranscript", { recordingId })));
  for (const format of ["Txt", "Vtt", "Srt"])
    assert.equal(typeof (await run(`getTranscript${format}`, { recordingId })), "string");
  assert.ok((await run("downloadRecording", { recordingId })).length > 0);
}

async function useOAuth(run: Run): Promise<void> {
  const client = await makeClient(app, workspace);
  const { code, verifier } = await obtainCode(app, client, member);
  const credentials = { client_id: client.id, client_secret: client.secret };
  const tokens = await run("oauthToken", {
    requestBody: { grant_type: "authorization_code", code, code_verifier: verifier, ...credentials },
  });
  assert.equal(tokens.token_type, "bearer");
  await run("oauthRevoke", { requestBody: { token: tokens.access_token, ...credentials } });
}
