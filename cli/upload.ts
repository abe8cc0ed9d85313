import { createHash } from "node:crypto";
import { realpath, stat } from "node:fs/promises";
import { basename, extname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Command, InvalidArgumentError, Option } from "commander";
import { collect } from "./options.ts";
import {
  createOneStepUpload,
  createUpload,
  getUpload,
  type RemoteUpload,
  type Target,
  UploadError,
} from "./upload-api.ts";
import { showProgress } from "./upload-progress.ts";
import { type LocalFile, sendInPieces, sendWhole } from "./upload-send.ts";
import { dropRecord, findRecord, keepRecord, type RecordKey, stateFile } from "./upload-state.ts";

interface Options {
  url: string;
  token?: string;
  title?: string;
  startTime?: string;
  team?: string;
  recorder: string[];
  promote: boolean;
  wait?: boolean;
  json?: boolean;
  chunkSize: number;
}

/** What can be sent, and how. Source: contract.md, "Media requirements" and "Upload Recording". */
const formats: Readonly<Record<string, "video" | "audio" | "one_step">> = {
  ".mp4": "video",
  ".mp3": "audio",
  ".mov": "one_step",
  ".m4a": "one_step",
};

/** How soon and how often the server is asked whether it is done. */
const firstPollMs = 500;
const slowestPollMs = 5000;

export function uploadCommand(): Command {
  return new Command("upload")
    .description("send recordings (.mp4, .mp3, .mov, .m4a) to a Parley server; prints the id of each upload")
    .argument("<file...>", "the files, sent one after the other")
    .addOption(
      new Option("--url <base>", "address of the server").env("PARLEY_URL").default("http://localhost:3000"),
    )
    .addOption(
      new Option(
        "--token <token>",
        "access token; better given by the environment, since others on this machine see the command line",
      ).env("PARLEY_TOKEN"),
    )
    .option("--title <title>", "title of the recording, for one file")
    .option("--start-time <time>", "when the meeting began, such as 2026-10-05T09:30:00Z")
    .option("--team <id>", "team the recording belongs to")
    .option(
      "--recorder <id>",
      "user who recorded it; may be repeated; needed with a workspace token",
      collect,
      [],
    )
    .option("--no-promote", "leave it staged instead of making a recording of it")
    .option("--wait", "wait for the recording and print its id instead")
    .option(
      "--chunk-size <MiB>",
      "how much is sent at a time, and at most twice after a cut",
      readMebibytes,
      32,
    )
    .option("--json", "print a JSON object for each file, on a line of its own")
    .action(uploadAll);
}

function readMebibytes(text: string): number {
  const size = Number(text);
  if (!Number.isInteger(size) || size < 1 || size > 4096)
    throw new InvalidArgumentError("It must be a whole number from 1 to 4096.");
  return size;
}

async function uploadAll(paths: string[], options: Options): Promise<void> {
  if (!options.token) {
    fail("an access token is needed: set PARLEY_TOKEN (made by `parley token create`)");
    return;
  }
  if (options.title !== undefined && paths.length > 1) {
    fail("--title is for one file at a time");
    return;
  }
  const target: Target = { url: options.url.replace(/\/+$/, ""), token: options.token };
  explainSignals();
  for (const path of paths) {
    try {
      report(path, await uploadOne(target, path, options), options);
    } catch (error) {
      if (!(error instanceof UploadError)) throw error;
      fail(paths.length > 1 ? `${path}: ${error.message}` : error.message);
    }
  }
  // Until all is done, a second run of the same command has to know what the first one has sent.
  if (process.exitCode === 1) return;
  for (const path of paths) await forget(target, path, options);
}

function explainSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => {
      console.error(
        "\nparley: interrupted; run the same command again and it goes on where it was (.mov and .m4a files are sent from their beginning)",
      );
      // As shells count the end by a signal.
      process.exit(130);
    });
}

function fail(words: string): void {
  console.error(`parley: ${words}`);
  process.exitCode = 1;
}

function report(path: string, upload: RemoteUpload, options: Options): void {
  const { id, recording_id, status } = upload;
  if (options.json)
    process.stdout.write(
      `${JSON.stringify({ file: path, upload_id: id, recording_id, status, ...(upload.failure ? { reason: upload.failure.reason } : {}) })}\n`,
    );
  if (status === "failure") fail(`${path}: ${upload.failure?.reason ?? "the upload failed"}`);
  else if (!options.json) process.stdout.write(`${options.wait ? (recording_id ?? id) : id}\n`);
}

async function uploadOne(target: Target, path: string, options: Options): Promise<RemoteUpload> {
  const format = formatOf(path);
  const file = await findFile(path);
  const uploadId =
    format === "one_step"
      ? await sendOneStep(target, file, options)
      : await sendResumable(target, file, format, options);
  if (options.wait) console.error(`parley: ${basename(path)} has arrived; waiting for the server`);
  return waitForEnd(target, uploadId, options);
}

function formatOf(path: string): "video" | "audio" | "one_step" {
  const format = formats[extname(path).toLowerCase()];
  if (format === undefined)
    throw new UploadError(`${path} is not supported: only ${Object.keys(formats).join(", ")} files are`);
  return format;
}

async function forget(target: Target, path: string, options: Options): Promise<void> {
  const format = formatOf(path);
  if (format !== "one_step")
    await dropRecord(stateFile(process.env), recordKey(target, await findFile(path), format, options));
}

interface FoundFile extends LocalFile {
  readonly modifiedMs: number;
}

async function findFile(path: string): Promise<FoundFile> {
  try {
    const absolute = await realpath(path);
    const stats = await stat(absolute);
    if (!stats.isFile()) throw new UploadError(`${path} is not a file`);
    if (stats.size === 0) throw new UploadError(`${path} is empty`);
    return { path: absolute, size: stats.size, modifiedMs: Math.floor(stats.mtimeMs) };
  } catch (error) {
    if (error instanceof UploadError) throw error;
    throw new UploadError(`${path} can't be read: ${(error as Error).message}`);
  }
}

function inputOf(format: "video" | "audio", options: Options) {
  return {
    media_type: format,
    auto_promote: options.promote,
    attributes: {
      ...(options.title === undefined ? {} : { title: options.title }),
      ...(options.startTime === undefined ? {} : { start_datetime: options.startTime }),
      ...(options.team === undefined ? {} : { team_id: options.team }),
      ...(options.recorder.length === 0 ? {} : { recorder_ids: options.recorder }),
    },
  };
}

function recordKey(target: Target, file: FoundFile, format: "video" | "audio", options: Options): RecordKey {
  return {
    server: target.url,
    path: file.path,
    token_mark: createHash("sha256").update(target.token).digest("hex").slice(0, 16),
    size: file.size,
    modified_ms: file.modifiedMs,
    input: JSON.stringify(inputOf(format, options)),
  };
}

/** Sends a file in pieces, going on with an upload that an earlier run has begun. @returns the upload's id. */
async function sendResumable(
  target: Target,
  file: FoundFile,
  format: "video" | "audio",
  options: Options,
): Promise<string> {
  const state = stateFile(process.env);
  const key = recordKey(target, file, format, options);
  const record = await findRecord(state, key);
  const begun = record === undefined ? null : await getUpload(target, record.upload_id);
  if (begun !== null && begun.status !== "failure") {
    const tusUrl = begun.media?.upload?.tus_url;
    if (tusUrl === undefined) {
      console.error(`parley: ${basename(file.path)} was sent already`);
      return begun.id;
    }
    try {
      await send(file, tusUrl, true, options);
      return begun.id;
    } catch (error) {
      // Too late to go on: a new upload is begun below.
      const isOver =
        error instanceof UploadError && /^(?:link_|not_found|wrong_state)/.test(error.code ?? "");
      if (!isOver) throw error;
    }
  }
  const created = await createUpload(target, inputOf(format, options));
  const upload = created.media?.upload;
  if (upload === undefined) throw new UploadError("the server said nothing about where to send the file");
  refuseTooLarge(file, upload.max_upload_bytes);
  await keepRecord(state, {
    ...key,
    upload_id: created.id,
    tus_url: upload.tus_url,
    begun_at: new Date().toISOString(),
  });
  await send(file, upload.tus_url, false, options);
  return created.id;
}

async function send(file: FoundFile, tusUrl: string, isBegun: boolean, options: Options): Promise<void> {
  const progress = startProgress(file, options);
  const chunkBytes = options.chunkSize * 1024 * 1024;
  await sendInPieces(file, tusUrl, { isBegun, chunkBytes, onProgress: progress.moved }).finally(
    progress.done,
  );
}

/** Sends a file by the older operation, which alone takes these formats. @returns the upload's id. */
async function sendOneStep(target: Target, file: FoundFile, options: Options): Promise<string> {
  const { title, startTime, team, recorder, promote } = options;
  if (title !== undefined || startTime !== undefined || team !== undefined || !promote || recorder.length > 1)
    throw new UploadError(
      `${basename(file.path)}: of the options about the recording, only one --recorder is possible for .mov and .m4a files`,
    );
  const [userId] = recorder;
  const created = await createOneStepUpload(target, {
    filename: basename(file.path),
    ...(userId === undefined ? {} : { user_id: userId }),
  });
  refuseTooLarge(file, created.max_upload_bytes);
  const progress = startProgress(file, options);
  await sendWhole(file, created.url, progress.moved).finally(progress.done);
  return created.uuid;
}

function startProgress(file: FoundFile, options: Options) {
  const how = options.json ? "silent" : process.stderr.isTTY ? "bar" : "lines";
  return showProgress(basename(file.path), file.size, how);
}

function refuseTooLarge(file: FoundFile, mostBytes: number): void {
  if (file.size > mostBytes)
    throw new UploadError(`the file has ${file.size} bytes; the server takes at most ${mostBytes}`);
}

/** Asks until the recording is there or never will be; once when nobody waits for it. */
async function waitForEnd(target: Target, uploadId: string, options: Options): Promise<RemoteUpload> {
  for (let waitMs = firstPollMs; ; waitMs = Math.min(waitMs * 1.5, slowestPollMs)) {
    const upload = await getUpload(target, uploadId);
    if (upload === null) throw new UploadError(`upload ${uploadId} is gone`);
    const isOver =
      upload.status === "success" ||
      upload.status === "failure" ||
      (upload.status === "staged" && !options.promote);
    if (isOver || !options.wait) return upload;
    await delay(waitMs);
  }
}
