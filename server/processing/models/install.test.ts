import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { inspect } from "node:util";
import type { CatalogueModel } from "./catalogue.ts";
import { CanceledError, discardUnfinished, installCatalogueModel, installModel } from "./install.ts";
import { LockedError, takeInstallLock } from "./install-lock.ts";
import { ensureIntact, listInstalled, ModelError, modelsFolder, removeModel, verifyModel } from "./store.ts";

const dataDir = await mkdtemp(join(tmpdir(), "parley-models-"));
const contents = { "one.onnx": randomBytes(300_000), "tokens.txt": Buffer.from("a 0\nb 1\n") };
const model: CatalogueModel = {
  name: "test-model",
  kind: "transducer",
  description: "",
  license: "CC-BY-4.0",
  attribution: "",
  source: "",
  revision: "1",
  languages: ["en"],
  isDefault: false,
  files: Object.entries(contents).map(([name, content]) => ({
    name,
    bytes: content.length,
    sha256: createHash("sha256").update(content).digest("hex"),
    url: "http://127.0.0.1:9/never",
  })),
};

const requests: string[] = [];
let serve: RequestListener;
const server = createServer((request, response) => {
  requests.push(`${request.url} ${request.headers.range ?? "whole"}`);
  serve(request, response);
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const mirror = `http://127.0.0.1:${(server.address() as AddressInfo).port}/models`;
after(async () => {
  server.closeAllConnections();
  server.close();
  await rm(dataDir, { recursive: true, force: true });
});

const contentOf = (url: string | undefined): Buffer | undefined =>
  contents[url?.replace("/models/test-model/", "") as keyof typeof contents];

/** A server that understands ranges. */
const wellBehaved: RequestListener = (request, response) => {
  const content = contentOf(request.url);
  if (content === undefined) return void response.writeHead(404).end();
  const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
  if (from === 0) return void response.writeHead(200).end(content);
  response
    .writeHead(206, { "content-range": `bytes ${from}-${content.length - 1}/${content.length}` })
    .end(content.subarray(from));
};

beforeEach(async () => {
  await rm(modelsFolder(dataDir), { recursive: true, force: true });
  requests.length = 0;
  serve = wellBehaved;
});

const install = () => installCatalogueModel(dataDir, model, { type: "download", mirror });
const names = async () => (await listInstalled(dataDir)).map(({ name }) => name);

test("a model is downloaded from a mirror, complete and verified; a second call requests nothing", async () => {
  const seen: number[] = [];
  await installCatalogueModel(
    dataDir,
    model,
    { type: "download", mirror },
    { onProgress: (done) => seen.push(done) },
  );
  assert.deepEqual(await names(), ["test-model"]);
  const [installed] = await listInstalled(dataDir);
  assert.ok(installed);
  assert.deepEqual(await verifyModel(installed), []);
  assert.deepEqual(await readFile(join(installed.folder, "one.onnx")), contents["one.onnx"]);
  assert.equal(seen.at(-1), 300_008);
  await install();
  assert.equal(requests.length, 2);
  assert.deepEqual(await readdir(modelsFolder(dataDir)), ["test-model"]);
});

test("an interrupted download resumes where it stopped, also after its process was killed", async () => {
  const part = join(modelsFolder(dataDir), ".test-model.part");
  await mkdir(part, { recursive: true });
  await writeFile(join(part, "one.onnx.part"), contents["one.onnx"].subarray(0, 100_000));
  let cuts = 2;
  serve = (request, response) => {
    if (request.headers.range === undefined || cuts-- <= 0) return wellBehaved(request, response);
    const from = Number(/\d+/.exec(request.headers.range)?.[0]);
    response.writeHead(206, { "content-range": `bytes ${from}-299999/300000` });
    response.end(contents["one.onnx"].subarray(from, from + 50_000));
  };
  await install();
  assert.deepEqual(requests.slice(0, 3), [
    "/models/test-model/one.onnx bytes=100000-",
    "/models/test-model/one.onnx bytes=150000-",
    "/models/test-model/one.onnx bytes=200000-",
  ]);
  assert.deepEqual(await names(), ["test-model"]);
});

test("a full disk ends a download at once and says so", { skip: process.platform !== "linux" }, async () => {
  const part = join(modelsFolder(dataDir), ".test-model.part");
  await mkdir(part, { recursive: true });
  // Each write to this device fails as on a full disk.
  await symlink("/dev/full", join(part, "one.onnx.part"));
  await assert.rejects(
    install(),
    (error) => error instanceof ModelError && /^the disk is full/.test(error.message),
  );
  assert.equal(requests.length, 1);
});

test("what an installation from another folder left is not taken for the model's file", async () => {
  const part = join(modelsFolder(dataDir), ".test-model.part");
  await mkdir(part, { recursive: true });
  await writeFile(join(part, "one.onnx"), randomBytes(300_000));
  await install();
  const [installed] = await listInstalled(dataDir);
  assert.deepEqual(await verifyModel(installed ?? assert.fail()), []);
});

test("a GGUF file by path keeps to its folder, whatever it is called; a folder or a pipe is none", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-gguf-"));
  const path = join(folder, "model.json");
  await writeFile(path, "GGUF and more");
  const { files, folder: into } = await installModel(dataDir, "named", { type: "file", path });
  assert.deepEqual(
    files.map(({ name }) => name),
    ["model.json.gguf"],
  );
  assert.deepEqual((await readdir(into)).sort(), ["model.json", "model.json.gguf"]);
  await assert.rejects(installModel(dataDir, "../up", { type: "file", path }), /is not a model name/);
  await assert.rejects(installModel(dataDir, "none", { type: "file", path: folder }), /is not a file/);
  const pipe = join(folder, "pipe.gguf");
  execFileSync("mkfifo", [pipe]);
  await assert.rejects(installModel(dataDir, "none", { type: "file", path: pipe }), /is not a file/);
  await rm(folder, { recursive: true });
});

test("the copy of a file shows its progress, can be canceled, and starts again after it was stopped", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-gguf-"));
  const path = join(folder, "large.gguf");
  await writeFile(path, Buffer.concat([Buffer.from("GGUF"), randomBytes(5 << 20)]));
  const size = (5 << 20) + 4;
  const copy = (reason: Error | null) => {
    const end = new AbortController();
    const seen: number[] = [];
    const onProgress = (done: number, total: number): void => {
      assert.equal(total, size);
      seen.push(done);
      if (reason !== null && done > 0) end.abort(reason);
    };
    const result = installModel(dataDir, "large", { type: "file", path }, { onProgress, signal: end.signal });
    return { result, seen };
  };
  await assert.rejects(copy(new Error("stopped")).result);
  assert.deepEqual(await readdir(modelsFolder(dataDir)), [".large.part"]);
  await assert.rejects(copy(new CanceledError()).result);
  assert.deepEqual(await readdir(modelsFolder(dataDir)), []);
  const whole = copy(null);
  assert.deepEqual(await verifyModel(await whole.result), []);
  assert.equal(whole.seen[0], 0);
  assert.equal(whole.seen.at(-1), size);
  assert.ok(whole.seen.length > 5, "a part at a time");
  await rm(folder, { recursive: true });
});

test("a server without ranges sends the file again from its beginning", async () => {
  const part = join(modelsFolder(dataDir), ".test-model.part");
  await mkdir(part, { recursive: true });
  await writeFile(join(part, "one.onnx.part"), randomBytes(1000));
  serve = (request, response) => void response.writeHead(200).end(contentOf(request.url));
  await install();
  assert.deepEqual(await names(), ["test-model"]);
});

test("a file with a flipped byte is refused by name, and so is one that is too long or missing", async () => {
  const wrong = Buffer.from(contents["one.onnx"]);
  wrong[7] = (wrong[7] ?? 0) ^ 1;
  serve = (_request, response) => void response.writeHead(200).end(wrong);
  await assert.rejects(install(), /one\.onnx of test-model does not match its SHA-256/);
  serve = (_request, response) => void response.writeHead(200).end(Buffer.concat([wrong, wrong]));
  await assert.rejects(install(), /more than the 300000 bytes/);
  serve = (_request, response) => void response.writeHead(404).end();
  await assert.rejects(install(), (error) => error instanceof ModelError && /status 404/.test(error.message));
  assert.deepEqual(await names(), []);
});

test("a mirror's user and password are sent as a header, and no message shows them", async () => {
  const authorizations: (string | undefined)[] = [];
  serve = (request, response) => {
    authorizations.push(request.headers.authorization);
    if (authorizations.length > 2) response.writeHead(403).end();
    else wellBehaved(request, response);
  };
  const secret = mirror.replace("://", "://ada:s%3Acret@");
  const installFrom = (url: string) =>
    installCatalogueModel(dataDir, model, { type: "download", mirror: url });
  await installFrom(secret);
  const basic = `Basic ${Buffer.from("ada:s:cret").toString("base64")}`;
  assert.deepEqual(authorizations, [basic, basic]);
  await removeModel(dataDir, "test-model");
  await assert.rejects(installFrom(secret), (error: Error) => {
    assert.match(
      error.message,
      /responded with status 403 to 127\.0\.0\.1:\d+\/models\/test-model\/one\.onnx$/,
    );
    assert.doesNotMatch(inspect(error), /cret/);
    return true;
  });
  await assert.rejects(installFrom("ada:s3cret@host"), (error: Error) => {
    assert.match(error.message, /the mirror must be an http or https URL/);
    assert.doesNotMatch(inspect(error), /s3cret/);
    return true;
  });
});

test("a model's folder without its record is replaced, and what killed processes left is removed", async () => {
  const folder = modelsFolder(dataDir);
  await mkdir(join(folder, "test-model"), { recursive: true });
  await writeFile(join(folder, "test-model", "one.onnx"), "damaged");
  await mkdir(join(folder, ".removed-1"));
  await install();
  assert.deepEqual(await names(), ["test-model"]);
  assert.deepEqual(await readdir(folder), ["test-model"]);
});

test("a canceled download leaves no files, a stopped one resumes", async () => {
  const folder = modelsFolder(dataDir);
  const stop = new AbortController();
  serve = (_request, response) => {
    response.writeHead(200).write(contents["one.onnx"].subarray(0, 1000));
    stop.abort();
  };
  await assert.rejects(
    installCatalogueModel(dataDir, model, { type: "download", mirror }, { signal: stop.signal }),
  );
  assert.deepEqual(await readdir(folder), [".test-model.part"]);
  await discardUnfinished(dataDir, "test-model");
  assert.deepEqual(await readdir(folder), []);

  const cancel = new AbortController();
  serve = (_request, response) => {
    response.writeHead(200).write(contents["one.onnx"].subarray(0, 1000));
    cancel.abort(new CanceledError());
  };
  await assert.rejects(
    installCatalogueModel(dataDir, model, { type: "download", mirror }, { signal: cancel.signal }),
  );
  assert.deepEqual(await readdir(folder), []);
});

test("a folder outside the catalogue becomes a custom model, with its hashes recorded", async () => {
  const folder = join(dataDir, "custom");
  await mkdir(folder, { recursive: true });
  const files = ["encoder.int8.onnx", "decoder.int8.onnx", "joiner.int8.onnx", "tokens.txt"];
  for (const name of files) await writeFile(join(folder, name), name);
  const source = { type: "folder", path: folder } as const;
  const installed = await installModel(dataDir, "mine", source);
  assert.equal(installed.custom, true);
  await ensureIntact(installed);
  await installModel(dataDir, "mine", source);
  await writeFile(join(folder, "tokens.txt"), "tokens.tyt");
  await assert.rejects(
    installModel(dataDir, "mine", source),
    /tokens\.txt does not match the SHA-256 recorded/,
  );
  await writeFile(join(installed.folder, "tokens.txt"), "tokens.tyt");
  assert.deepEqual(await verifyModel(installed), ["tokens.txt does not match its SHA-256"]);
  await assert.rejects(ensureIntact(installed), /mine is damaged: tokens\.txt/);
  await removeModel(dataDir, "mine");
  assert.deepEqual(await names(), []);
  await rm(join(folder, "encoder.int8.onnx"));
  await assert.rejects(installModel(dataDir, "mine", source), /has no model/);
  await assert.rejects(
    installModel(dataDir, "../mine", source),
    /is not a model name/,
    "a name never leaves the folder",
  );
});

test("two installations of a model at the same time: the second is refused, a dead one's lock is taken over", async () => {
  await mkdir(modelsFolder(dataDir), { recursive: true });
  const lock = join(modelsFolder(dataDir), ".test-model.lock");
  await writeFile(lock, `${hostname()} ${process.ppid}`);
  await assert.rejects(install(), (error) => error instanceof LockedError);
  await discardUnfinished(dataDir, "test-model");
  await writeFile(lock, `${hostname()} 999999999`);
  const taken = await Promise.allSettled(
    Array.from({ length: 8 }, () => takeInstallLock(lock, "test-model")),
  );
  const releases = taken.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  assert.equal(releases.length, 1, "one of several takes over a dead process's lock");
  await releases[0]?.();
  await install();
  assert.deepEqual(await names(), ["test-model"]);
});
