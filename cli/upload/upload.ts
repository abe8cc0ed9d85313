import { createHash } from "node:crypto";
import { open, realpath, stat } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Command, InvalidArgumentError, Option } from "commander";
import { parseBaseUrl } from "../../server/platform/config/values.ts";
import { type ChunkSize, createChunkSize } from "../../shared/files/chunk-size.ts";
import { isTranscript, transcriptExtensions } from "../../shared/files/file-groups.ts";
import { otherContent, sniffBytes } from "../../shared/files/media-content.ts";
import { mediaFormats } from "../../shared/files/media-formats.ts";
import { collect } from "../support/options.ts";
import {
  createImport,
  getImport,
  getUpload,
  type ImportRequest,
  type RemoteUpload,
  type Target,
  UploadError,
} from "./api.ts";
import { showProgress } from "./progress.ts";
import { deleteRecord, findRecord, type RecordKey, saveRecord, stateFile } from "./records.ts";
import { type LocalFile, sendFile } from "./send.ts";
import { type Given, pairPaths, readTexts } from "./texts.ts";

interface Options {
  join?: boolean;
  url: string;
  token?: string;
  title?: string;
  startTime?: string;
  team?: string;
  language?: string;
  audioTracks?: "mix" | "speakers" | "ask";
  recorder: string[];
  promote: boolean;
  wait?: boolean;
  json?: boolean;
  chunkSize: number;
}

/** The delay between status requests grows from the first to the second. */
const minPollMs = 500;
const maxPollMs = 5000;

const transcriptNames = transcriptExtensions.map((extension) => `.${extension}`).join(", ");
const extensions = mediaFormats.map((format) => `.${format}`).join(", ");

/** Parts of one recording, at most. */
const maxParts = 20;

export function uploadCommand(command: Command): Command {
  return command
    .argument(
      "<file...>",
      `video or audio files (such as ${extensions}), uploaded one after the other; a transcript (${transcriptNames}) or chat with the name of a recording is sent with it`,
    )
    .option("--join", "join the files, in this order, to one recording")
    .addOption(
      new Option("--url <base>", "base URL of the server")
        .env("PARLEY_URL")
        .argParser(readBaseUrl)
        .default("http://localhost:3000"),
    )
    .addOption(
      new Option(
        "--token <token>",
        "access token; prefer the environment variable, because other users of this machine can see the command line",
      ).env("PARLEY_TOKEN"),
    )
    .option("--title <title>", "title of the recording; only with a single file or --join")
    .option("--start-time <time>", "when the meeting started, such as 2026-10-05T09:30:00Z")
    .option("--team <id>", "team to attach the recording to")
    .option("--language <code>", "language that is spoken, such as en; default: that of the workspace")
    .addOption(
      new Option(
        "--audio-tracks <use>",
        "what becomes of several audio tracks: mixed (default), mixed for playback and each transcribed as one speaker, or staged until you choose on the Uploads page",
      ).choices(["mix", "speakers", "ask"]),
    )
    .option(
      "--recorder <id>",
      "ID of a user who recorded it; can be repeated; required with a workspace token",
      collect,
      [],
    )
    .option("--no-promote", "keep the upload staged instead of promoting it to a recording")
    .option("--wait", "wait for the recording and print its ID instead")
    .option(
      "--chunk-size <MiB>",
      "size of a chunk; after an interruption at most one chunk is sent again; smaller where a proxy refuses it",
      readMebibytes,
      32,
    )
    .option("--json", "print a JSON object per file, one per line")
    .action(uploadAll);
}

function readBaseUrl(text: string): string {
  try {
    return parseBaseUrl(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

function readMebibytes(text: string): number {
  const size = Number(text);
  if (!Number.isInteger(size) || size < 1 || size > 4096)
    throw new InvalidArgumentError("must be a whole number from 1 to 4096");
  return size;
}

async function uploadAll(paths: string[], options: Options): Promise<void> {
  if (!options.token) {
    fail("an access token is required; set PARLEY_TOKEN (see `parley token create`)");
    return;
  }
  const recordings = options.join ? [{ paths, transcript: null, chat: null }] : pairPaths(paths);
  if (options.title !== undefined && recordings.length > 1) {
    fail("--title is allowed only with a single file or --join");
    return;
  }
  if (options.join && paths.length > maxParts) {
    fail(`--join takes at most ${maxParts} files`);
    return;
  }
  const target: Target = { url: options.url, token: options.token };
  explainSignals();
  const chunkSize = createChunkSize();
  for (const given of recordings) {
    const name = given.paths.join(" + ");
    try {
      report(name, await uploadOne(target, given, options, chunkSize), options);
    } catch (error) {
      if (!(error instanceof UploadError)) throw error;
      fail(recordings.length > 1 ? `${name}: ${error.message}` : error.message);
    }
  }
  // Kept until all files are uploaded, so that a second run skips those already sent.
  if (process.exitCode === 1) return;
  for (const given of recordings)
    await deleteRecord(stateFile(process.env), recordKey(target, await findFiles(given.paths), options));
}

function explainSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.once(signal, () => {
      console.error("\nparley: interrupted; run the same command again to resume");
      // The exit code of shells for SIGINT.
      process.exit(130);
    });
}

function warn(message: string): void {
  console.error(`parley: ${message}`);
}

function fail(message: string): void {
  console.error(`parley: ${message}`);
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

async function uploadOne(
  target: Target,
  given: Given,
  options: Options,
  chunkSize: ChunkSize,
): Promise<RemoteUpload> {
  const file = await findFiles(given.paths);
  const uploadId = await sendResumable(target, { file, given }, options, chunkSize);
  if (options.wait) console.error(`parley: ${file.name} is uploaded; waiting for the server to process it`);
  const upload = await waitForEnd(target, uploadId, options);
  const notice = upload.recording_id === null ? null : (await getImport(target, uploadId)).notice;
  if (notice !== null) warn(`${file.name}: ${notice}`);
  return upload;
}

/** Whether a file would be sent with a recording of the same name. */
function isText(path: string): boolean {
  return isTranscript(path) || /chat\.txt$/i.test(path);
}

/** Finds the files of a recording. @throws UploadError */
async function findFiles(paths: readonly string[]): Promise<FoundFile> {
  for (const path of paths)
    if (isText(path))
      throw new UploadError(
        `${path} belongs to no recording of the command; name it like its recording, and don't use --join`,
      );
  const parts: Awaited<ReturnType<typeof findFile>>[] = [];
  for (const path of paths) parts.push(await findFile(path));
  return {
    parts,
    name: basename(paths[0] ?? ""),
    path: parts.map(({ path }) => path).join("\n"),
    size: parts.reduce((sum, { size }) => sum + size, 0),
    modifiedMs: parts.reduce((latest, { modifiedMs }) => Math.max(latest, modifiedMs), 0),
  };
}

interface FoundFile extends LocalFile {
  /** The name of the first. */
  readonly name: string;
  /** All paths, which identify it. */
  readonly path: string;
  readonly modifiedMs: number;
}

async function findFile(path: string): Promise<{ path: string; size: number; modifiedMs: number }> {
  try {
    const absolute = await realpath(path);
    const stats = await stat(absolute);
    if (!stats.isFile()) throw new UploadError(`${path} is not a file`);
    if (stats.size === 0) throw new UploadError(`${path} is empty`);
    await requireMedia(path, absolute);
    return { path: absolute, size: stats.size, modifiedMs: Math.floor(stats.mtimeMs) };
  } catch (error) {
    if (error instanceof UploadError) throw error;
    throw new UploadError(`${path} can't be read: ${(error as Error).message}`);
  }
}

/** The content decides, whatever the name says. @throws UploadError when it is clearly no recording. */
async function requireMedia(path: string, absolute: string): Promise<void> {
  const file = await open(absolute);
  const { bytesRead, buffer } = await file
    .read(Buffer.alloc(sniffBytes), 0, sniffBytes, 0)
    .finally(() => file.close());
  const other = otherContent(buffer.subarray(0, bytesRead));
  if (other !== null)
    throw new UploadError(`${path} looks like ${other}; use a video or audio file, such as ${extensions}`);
}

/** The request that creates the upload. */
function inputOf({ name, parts, modifiedMs }: FoundFile, options: Options): ImportRequest {
  return {
    media: {
      name,
      modified_datetime: new Date(modifiedMs).toISOString(),
      time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      ...(options.audioTracks === undefined ? {} : { audio_tracks: options.audioTracks }),
      ...(parts.length === 1 ? {} : { parts: parts.map(({ size }) => ({ bytes: size })) }),
    },
    source: "upload",
    auto_promote: options.promote,
    ...(options.title === undefined ? {} : { title: options.title }),
    ...(options.startTime === undefined ? {} : { start_datetime: options.startTime }),
    ...(options.team === undefined ? {} : { team_ids: [options.team] }),
    ...(options.language === undefined ? {} : { spoken_language: options.language }),
    ...(options.recorder.length === 0 ? {} : { recorder_ids: options.recorder }),
  };
}

function recordKey(target: Target, file: FoundFile, options: Options): RecordKey {
  return {
    server: target.url,
    path: file.path,
    token_mark: createHash("sha256").update(target.token).digest("hex").slice(0, 16),
    size: file.size,
    modified_ms: file.modifiedMs,
    input: JSON.stringify(inputOf(file, options)),
  };
}

/** Sends a file in chunks, and resumes the upload of an earlier run. @returns the upload's id. */
async function sendResumable(
  target: Target,
  { file, given }: { readonly file: FoundFile; readonly given: Given },
  options: Options,
  chunkSize: ChunkSize,
): Promise<string> {
  const state = stateFile(process.env);
  const key = recordKey(target, file, options);
  const record = await findRecord(state, key);
  const begun = record === undefined ? null : await getUpload(target, record.upload_id);
  if (begun !== null && begun.status !== "failure") {
    const tusUrl = begun.media?.upload?.tus_url;
    if (tusUrl === undefined) {
      console.error(`parley: ${file.name} is already uploaded`);
      return begun.id;
    }
    try {
      await sendWithProgress(file, tusUrl, true, options, chunkSize);
      return begun.id;
    } catch (error) {
      // The upload can't be resumed any more; a new one is created below.
      const isOver =
        error instanceof UploadError && /^(?:link_|not_found|wrong_state)/.test(error.code ?? "");
      if (!isOver) throw error;
    }
  }
  const { id, upload } = await createImport(target, {
    ...inputOf(file, options),
    ...(await readTexts(given, options.language, warn)),
  });
  if (upload === null) throw new UploadError("the server returned no URL to send the file to");
  checkSize(file, upload.max_upload_bytes);
  await saveRecord(state, {
    ...key,
    upload_id: id,
    tus_url: upload.tus_url,
    begun_at: new Date().toISOString(),
  });
  await sendWithProgress(file, upload.tus_url, false, options, chunkSize);
  return id;
}

async function sendWithProgress(
  file: FoundFile,
  tusUrl: string,
  isBegun: boolean,
  options: Options,
  chunkSize: ChunkSize,
): Promise<void> {
  const progress = startProgress(file, options);
  const chunkBytes = options.chunkSize * 1024 * 1024;
  const { moved: onProgress, done } = progress;
  await sendFile(file, tusUrl, { isBegun, chunkBytes, chunkSize, onProgress }).finally(done);
}

function startProgress(file: FoundFile, options: Options) {
  const how = options.json ? "silent" : process.stderr.isTTY ? "bar" : "lines";
  return showProgress(file.name, file.size, how);
}

function checkSize(file: FoundFile, maxBytes: number): void {
  if (file.size > maxBytes)
    throw new UploadError(`the file has ${file.size} bytes, more than the server's limit of ${maxBytes}`);
}

/** Requests the upload's status until it is final; only once without --wait. */
async function waitForEnd(target: Target, uploadId: string, options: Options): Promise<RemoteUpload> {
  for (let waitMs = minPollMs; ; waitMs = Math.min(waitMs * 1.5, maxPollMs)) {
    const upload = await getUpload(target, uploadId);
    if (upload === null) throw new UploadError(`upload ${uploadId} no longer exists`);
    const isOver =
      upload.status === "success" ||
      upload.status === "failure" ||
      // Also where several audio tracks wait for a choice.
      (upload.status === "staged" && !upload.auto_promote);
    if (isOver || !options.wait) return upload;
    await delay(waitMs);
  }
}
