import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { link, mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { PortableRecording } from "../../../contract/recordings/portable.ts";
import type { Database } from "../../platform/db/database.ts";
import { recordingObjectKey } from "../../platform/storage/layout.ts";
import { ObjectMissingError, type ObjectStore } from "../../platform/storage/store.ts";
import { contentTypes } from "../../recordings/recordings/media/media.ts";
import { formatChapters, formatTranscript } from "../../recordings/recordings/transcript/format.ts";
import { ExportError, UnexportedError } from "./errors.ts";
import { toMarkdown } from "./markdown.ts";
import {
  type ExportedEntry,
  type ExportedMedia,
  type ExportedRecording,
  isPresent,
  readIds,
  readParts,
} from "./read.ts";
import { toVcon } from "./vcon.ts";

export interface ExportDependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly baseUrl: string;
}

export interface ExportOptions {
  readonly workspace: { readonly id: string; readonly name: string };
  /** Also write vcon.json. */
  readonly vcon: boolean;
  readonly onProgress?: (progress: { phase: string; total: number; done: number; bytes: number }) => void;
}

export interface ExportResult {
  readonly recordings: number;
  /** Recordings whose folder was current already. */
  readonly unchanged: number;
  /** Bytes written. */
  readonly bytes: number;
  /** Recordings that can't be exported, as `<id>: <problem>`. */
  readonly problems: readonly string[];
}

type FileEntry = PortableRecording["files"][number];

/** Folders that are being written or replaced; a run begins by removing those of an interrupted one. */
const unfinished = /^\.(?:partial|old)-/;

/**
 * Writes a folder per recording of a workspace. A folder appears under its name only when it is complete, so a run that
 * was killed is resumed by the next one, and a later run writes only what has changed.
 * @throws ExportError when the folder has something else.
 */
export async function exportWorkspace(
  deps: ExportDependencies,
  folder: string,
  options: ExportOptions,
): Promise<ExportResult> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await claimFolder(folder, options.workspace.id);
  const ids: string[] = [];
  for (let page = await readIds(deps.db, options.workspace.id, null); page.length > 0; ) {
    ids.push(...page);
    page = await readIds(deps.db, options.workspace.id, page.at(-1) ?? null);
  }
  const written: string[] = [];
  const problems: string[] = [];
  let [unchanged, bytes] = [0, 0];
  for (const [index, id] of ids.entries()) {
    const result = await exportIfPossible(deps, folder, id, options);
    if (result instanceof UnexportedError) {
      problems.push(`${id}: ${result.message}`);
      // What an earlier run has exported of it stays a part of the export.
      if ((await readMetadata(join(folder, id))) !== null) written.push(id);
      continue;
    }
    if (result === null) continue;
    written.push(id);
    bytes += result.bytes;
    if (result.isUnchanged) unchanged += 1;
    options.onProgress?.({ phase: "export", total: ids.length, done: index + 1, bytes });
  }
  const summary = {
    format: "parley-export",
    version: 1,
    workspace: { id: options.workspace.id, name: options.workspace.name },
    recordings: written,
  };
  await writeFileSynced(join(folder, ".partial-export.json"), toJson(summary));
  await rename(join(folder, ".partial-export.json"), join(folder, "export.json"));
  return { recordings: written.length, unchanged, bytes, problems };
}

/** Refuses a folder that is not an export of this workspace, and removes what an interrupted run left. */
async function claimFolder(folder: string, workspaceId: string): Promise<void> {
  const names = await readdir(folder);
  const marker = ".parley-export";
  const owner = names.includes(marker) ? (await readFile(join(folder, marker), "utf8")).trim() : null;
  if (owner === null && names.length > 0)
    throw new ExportError(`${folder} is not empty and not an export; choose an empty folder`);
  if (owner !== null && owner !== workspaceId)
    throw new ExportError(`${folder} has an export of another workspace; choose another folder`);
  await writeFileSynced(join(folder, marker), Buffer.from(`${workspaceId}\n`));
  for (const name of names.filter((one) => unfinished.test(one)))
    await rm(join(folder, name), { recursive: true, force: true });
}

/** @returns null when the recording was deleted meanwhile; an error when it alone can't be exported. */
async function exportIfPossible(...args: Parameters<typeof exportRecording>) {
  const [deps, , id, { workspace }] = args;
  try {
    return await exportRecording(...args);
  } catch (error) {
    if (error instanceof UnexportedError) return error;
    if (!(error instanceof ObjectMissingError)) throw error;
    return (await isPresent(deps.db, { workspaceId: workspace.id, recordingId: id }))
      ? new UnexportedError("its media file is missing from the store")
      : null;
  }
}

/**
 * @returns null when the recording was deleted meanwhile.
 * @throws UnexportedError when its media file is damaged.
 */
async function exportRecording(
  deps: ExportDependencies,
  folder: string,
  recordingId: string,
  options: Pick<ExportOptions, "workspace" | "vcon">,
): Promise<{ bytes: number; isUnchanged: boolean } | null> {
  const parts = await readParts(deps.db, deps.baseUrl, { workspaceId: options.workspace.id, recordingId });
  if (parts === undefined) return null;
  const { recording, entries, media } = parts;
  const texts = await renderTexts(recording, entries);
  const target = join(folder, recordingId);
  const existing = await readMetadata(target);
  const kept = existing?.files.find(({ name }) => name === `media.${media?.format}`);
  const isMediaKept = media?.sha256 != null && kept?.sha256 === media.sha256.toString("hex");
  const files = texts.map(fingerprint);
  const known = existing?.files.filter(({ name }) => name !== "vcon.json");
  const isUnchanged =
    existing !== null &&
    (media === undefined || isMediaKept) &&
    options.vcon === existing.files.some(({ name }) => name === "vcon.json") &&
    isSame({ ...existing, files: known }, { ...recording, files: [...(kept ? [kept] : []), ...files] });
  if (isUnchanged) return { bytes: 0, isUnchanged };
  const partial = join(folder, `.partial-${recordingId}`);
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { mode: 0o700 });
  const written: FileEntry[] = [];
  let sha512: string | null = null;
  if (media !== undefined) {
    const name = `media.${media.format}`;
    const path = join(partial, name);
    if (isMediaKept) await link(join(target, name), path);
    const from = isMediaKept ? createReadStream(path) : await openMedia(deps.store, recordingId, media);
    const copied = await copyFile(from, isMediaKept ? null : path);
    if (media.sha256 !== null && copied.sha256 !== media.sha256.toString("hex"))
      throw new UnexportedError("its media file has other content than when it was stored");
    written.push({ name, bytes: copied.bytes, sha256: copied.sha256 });
    sha512 = copied.sha512;
  }
  for (const text of texts) await writeFileSynced(join(partial, text.name), text.body);
  written.push(...files);
  if (options.vcon) {
    const file = media && { name: `media.${media.format}`, contentType: contentTypes[media.format] };
    const vcon = toVcon(recording, entries, file && sha512 !== null ? { ...file, sha512 } : null);
    const text = { name: "vcon.json", body: toJson(vcon) };
    await writeFileSynced(join(partial, text.name), text.body);
    written.push(fingerprint(text));
  }
  await writeFileSynced(join(partial, "metadata.json"), toJson({ ...recording, files: written }));
  await replaceFolder(folder, recordingId, partial);
  return { bytes: written.reduce((sum, { bytes }) => sum + bytes, 0), isUnchanged: false };
}

async function replaceFolder(folder: string, id: string, partial: string): Promise<void> {
  const [target, old] = [join(folder, id), join(folder, `.old-${id}`)];
  await rename(target, old).catch(ignoreMissing);
  await rename(partial, target);
  await rm(old, { recursive: true, force: true });
}

interface TextFile {
  readonly name: string;
  readonly body: Buffer;
}

async function renderTexts(
  recording: ExportedRecording,
  entries: readonly ExportedEntry[],
): Promise<TextFile[]> {
  const plain = entries.map(({ word_times: _, ...entry }) => entry);
  const hasTimes = entries.some(({ word_times: times }) => times !== null);
  return [
    { name: "transcript.json", body: toJson(plain) },
    ...(hasTimes ? [{ name: "word-times.json", body: toJson(entries.map((one) => one.word_times)) }] : []),
    { name: "transcript.vtt", body: await formatTranscript("vtt", plain) },
    { name: "transcript.txt", body: await formatTranscript("txt", plain) },
    ...(recording.ai_chapters.length === 0
      ? []
      : [
          {
            name: "chapters.vtt",
            body: Buffer.from(formatChapters(recording.ai_chapters, recording.duration_ms)),
          },
        ]),
    { name: "transcript.md", body: Buffer.from(toMarkdown(recording, entries)) },
  ];
}

async function openMedia(store: ObjectStore, id: string, { format }: ExportedMedia): Promise<Readable> {
  return (await store.get(recordingObjectKey(id, `media.${format}`))).body;
}

/** Copies a stream to a file, or only reads it, with constant memory. */
async function copyFile(
  from: Readable,
  path: string | null,
): Promise<{ bytes: number; sha256: string; sha512: string }> {
  const [sha256, sha512]: [Hash, Hash] = [createHash("sha256"), createHash("sha512")];
  const file = path === null ? null : await open(path, "w", 0o600);
  let bytes = 0;
  try {
    for await (const chunk of from as AsyncIterable<Buffer>) {
      sha256.update(chunk);
      sha512.update(chunk);
      bytes += chunk.length;
      await file?.writeFile(chunk);
    }
    await file?.sync();
  } finally {
    await file?.close();
  }
  return { bytes, sha256: sha256.digest("hex"), sha512: sha512.digest("base64url") };
}

/** The metadata of a complete folder; null when there is none, or none that can be read. */
async function readMetadata(folder: string): Promise<PortableRecording | null> {
  try {
    const parsed = PortableRecording.safeParse(
      JSON.parse(await readFile(join(folder, "metadata.json"), "utf8")),
    );
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

function isSame(one: object, other: object): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

/** With keys in one order, in which JSON of equal values is equal. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, part]) => [key, sorted(part)]),
  );
}

function fingerprint({ name, body }: TextFile): FileEntry {
  return { name, bytes: body.length, sha256: createHash("sha256").update(body).digest("hex") };
}

function toJson(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value, null, 1)}\n`);
}

async function writeFileSynced(path: string, body: Buffer): Promise<void> {
  const file = await open(path, "w", 0o600);
  try {
    await file.writeFile(body);
    await file.sync();
  } finally {
    await file.close();
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
