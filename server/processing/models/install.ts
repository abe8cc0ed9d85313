import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat, statfs } from "node:fs/promises";
import { basename, join } from "node:path";
import { sentenceOf, sentences } from "../../../contract/sentences.ts";
import { type CatalogueModel, findInCatalogue, type ModelFile, type ModelKind } from "./catalogue.ts";
import { downloadFile } from "./download.ts";
import { LockedError, takeInstallLock } from "./install-lock.ts";
import {
  findInstalled,
  hashFile,
  type InstalledModel,
  isDiskFull,
  type Marker,
  ModelError,
  markerName,
  modelName,
  modelsFolder,
  moveAside,
  sweepRemoved,
} from "./store.ts";

/** Where the files come from. */
export type ModelSource =
  | { readonly type: "folder"; readonly path: string }
  /** The only file of a model. */
  | { readonly type: "file"; readonly path: string }
  /** `mirror` has a folder with the model's name; null: the addresses of the catalogue. */
  | { readonly type: "download"; readonly mirror: string | null };

export interface InstallOptions {
  /** Called with the bytes that are in place, at most a few times a second. */
  readonly onProgress?: (bytesDone: number, bytesTotal: number) => void;
  readonly signal?: AbortSignal;
}

/** What to install: a catalogue's model, or a folder that is described as it is found. */
interface Plan extends Omit<Marker, "installed_at" | "files"> {
  readonly files: readonly (ModelFile & { readonly url: string | null })[];
}

/** The reason of a signal when an installation is not to be resumed: its files are removed. */
export class CanceledError extends Error {}

/** Room that must remain on the disk. */
const reserveBytes = 200 * 1024 ** 2;

/** The layouts of folders outside the catalogue, by their files. */
const customLayouts: readonly { kind: ModelKind; files: readonly string[] }[] = [
  { kind: "transducer", files: ["encoder.int8.onnx", "decoder.int8.onnx", "joiner.int8.onnx", "tokens.txt"] },
  { kind: "speakers", files: ["embedding.onnx"] },
];

/**
 * Installs a model: checks the free disk, brings each file into a folder beside the models, verifies its size and
 * SHA-256, and renames the folder once everything is complete. Interrupted, the next call resumes. An installed model is
 * left as it is.
 * @throws ModelError for anything that the user can correct.
 */
export async function installModel(
  dataDir: string,
  name: string,
  source: ModelSource,
  options: InstallOptions = {},
): Promise<InstalledModel> {
  if (!modelName.test(name))
    throw new ModelError(`"${name}" is not a model name; use lowercase letters, digits, dots and hyphens`);
  const known = findInCatalogue(name);
  const plan = known === undefined ? await planCustom(name, source, options.signal) : planKnown(known);
  return installPlan(dataDir, plan, source, options);
}

/** The same for a model of a given catalogue entry. */
export function installCatalogueModel(
  dataDir: string,
  model: CatalogueModel,
  source: ModelSource,
  options: InstallOptions = {},
): Promise<InstalledModel> {
  return installPlan(dataDir, planKnown(model), source, options);
}

async function installPlan(
  dataDir: string,
  plan: Plan,
  source: ModelSource,
  options: InstallOptions,
): Promise<InstalledModel> {
  const folder = modelsFolder(dataDir);
  const part = join(folder, `.${plan.name}.part`);
  await mkdir(part, { recursive: true, mode: 0o700 });
  const unlock = await takeInstallLock(join(folder, `.${plan.name}.lock`), plan.name);
  try {
    await mkdir(part, { recursive: true, mode: 0o700 });
    const installed = await findInstalled(dataDir, plan.name);
    if (installed !== null) {
      refuseOther(installed, plan);
      await rm(part, { recursive: true, force: true });
      return installed;
    }
    const total = plan.files.reduce((sum, { bytes }) => sum + bytes, 0);
    await ensureRoom(part, plan.files, total);
    let done = 0;
    options.onProgress?.(done, total);
    for (const file of plan.files) {
      const before = done;
      await bringFile(part, plan, file, source, {
        ...options,
        onProgress: (bytes) => options.onProgress?.(before + bytes, total),
      });
      done += file.bytes;
      options.onProgress?.(done, total);
    }
    await writeMarker(part, plan);
    await moveAside(dataDir, plan.name);
    await rename(part, join(folder, plan.name));
    const result = await findInstalled(dataDir, plan.name);
    if (result === null) throw new Error(`the model ${plan.name} was removed while it was installed`);
    return result;
  } catch (error) {
    if (options.signal?.reason instanceof CanceledError) await rm(part, { recursive: true, force: true });
    if (isDiskFull(error)) throw new ModelError(sentences.model_disk_full, { cause: error });
    throw error;
  } finally {
    await unlock();
    await sweepRemoved(dataDir);
  }
}

/** Removes the files of an installation that was canceled while no process worked on it. */
export async function discardUnfinished(dataDir: string, name: string): Promise<void> {
  const folder = modelsFolder(dataDir);
  const part = join(folder, `.${name}.part`);
  if (!modelName.test(name) || (await stat(part).catch(() => null)) === null) return;
  try {
    const unlock = await takeInstallLock(join(folder, `.${name}.lock`), name);
    try {
      await rm(part, { recursive: true, force: true });
    } finally {
      await unlock();
    }
  } catch (error) {
    // The process that works on it removes the files.
    if (!(error instanceof LockedError)) throw error;
  }
}

function planKnown(model: CatalogueModel): Plan {
  const { name, kind, languages, revision, license, files } = model;
  return {
    name,
    kind,
    custom: false,
    languages: languages === null ? null : [...languages],
    revision,
    license,
    files,
  };
}

/** Describes a folder or file outside the catalogue: its files with the hashes that they have now. */
async function planCustom(name: string, source: ModelSource, signal: AbortSignal | undefined): Promise<Plan> {
  const custom = { name, custom: true, languages: null, revision: null, license: null };
  if (source.type === "file")
    return { ...custom, kind: "language", files: [await describeGguf(source.path, signal)] };
  if (source.type !== "folder")
    throw new ModelError(
      `there is no model ${name}; parley models list shows the models, and --from installs a folder under a name of your choice`,
    );
  const sizes = async (names: readonly string[]): Promise<(number | null)[]> =>
    Promise.all(
      names.map((file) =>
        stat(join(source.path, file)).then(
          (info) => (info.isFile() ? info.size : null),
          () => null,
        ),
      ),
    );
  for (const { kind, files } of customLayouts) {
    const bytes = await sizes(files);
    if (bytes.includes(null)) continue;
    const described = await Promise.all(
      files.map(async (file, index) => ({
        name: file,
        bytes: bytes[index] ?? 0,
        sha256: await hashFile(join(source.path, file), signal),
        url: null,
      })),
    );
    return { ...custom, kind, files: described };
  }
  const ggufs = (await readdir(source.path).catch(() => [])).filter((file) => file.endsWith(".gguf"));
  const [gguf] = ggufs;
  if (gguf !== undefined && ggufs.length === 1)
    return { ...custom, kind: "language", files: [await describeGguf(join(source.path, gguf), signal)] };
  throw new ModelError(
    `${source.path} has no model: it needs ${customLayouts[0]?.files.join(", ")}, or embedding.onnx for a model of speakers, or one GGUF file for a language model`,
  );
}

/** A language model's file. @throws ModelError when it is none. */
async function describeGguf(path: string, signal: AbortSignal | undefined): Promise<Plan["files"][number]> {
  await refuseNoFile(path);
  const file = await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    throw new ModelError(
      error.code === "ENOENT"
        ? sentenceOf("model_file_missing", { path })
        : sentenceOf("model_file_unreadable", { path, reason: error.message }),
    );
  });
  try {
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
    if (buffer.toString("latin1") !== "GGUF") throw new ModelError(sentenceOf("model_no_gguf", { path }));
    const { size } = await file.stat();
    // Whatever it was called, it can't replace the files beside it.
    const name = basename(path).replace(/(\.gguf)?$/, ".gguf");
    return { name, bytes: size, sha256: await hashFile(path, signal), url: null };
  } finally {
    await file.close();
  }
}

/** Opening a named pipe would wait for its writer. */
async function refuseNoFile(path: string): Promise<void> {
  if ((await stat(path).catch(() => null))?.isFile() === false)
    throw new ModelError(sentenceOf("model_no_file", { path }));
}

/** @throws ModelError when the files differ from those that were installed under the name before. */
function refuseOther(installed: InstalledModel, plan: Plan): void {
  const hashes = new Map(installed.files.map(({ name, sha256 }) => [name, sha256]));
  const different = plan.files.filter(({ name, sha256 }) => hashes.get(name) !== sha256);
  if (different.length > 0)
    throw new ModelError(
      sentenceOf("model_differs", {
        file: different.map(({ name }) => name).join(", "),
        model: plan.name,
      }),
    );
}

/** @throws ModelError when the missing files do not fit on the disk. */
async function ensureRoom(part: string, files: readonly ModelFile[], total: number): Promise<void> {
  const present = await Promise.all(
    files.flatMap(({ name }) =>
      [name, `${name}.part`].map((entry) =>
        stat(join(part, entry)).then(
          (info) => info.size,
          () => 0,
        ),
      ),
    ),
  );
  const needed = total - present.reduce((sum, bytes) => sum + bytes, 0) + reserveBytes;
  const { bavail, bsize } = await statfs(part);
  const free = bavail * bsize;
  if (free < needed)
    throw new ModelError(
      sentenceOf("model_no_room", { free: toMegabytes(free), needed: toMegabytes(needed) }),
    );
}

/** A model's name from its path, such as `my-model` of `My-Model.gguf`. */
export function nameOfPath(path: string): string {
  const name = basename(path);
  return name.toLowerCase().endsWith(".gguf") ? name.slice(0, -5).toLowerCase() : name;
}

/** Whole megabytes, for messages. */
export function toMegabytes(bytes: number): number {
  return Math.ceil(bytes / 1_000_000);
}

/** Brings one file into the folder, complete and verified. */
async function bringFile(
  part: string,
  plan: Plan,
  file: Plan["files"][number],
  source: ModelSource,
  options: { readonly onProgress: (bytes: number) => void; readonly signal?: AbortSignal },
): Promise<void> {
  const path = join(part, file.name);
  // Left by an interrupted installation, which may have had another source.
  const isLeft = (await stat(path).catch(() => null))?.size === file.bytes;
  if (isLeft && (await hashFile(path, options.signal)) === file.sha256) return;
  const unfinished = `${path}.part`;
  if (source.type !== "download") {
    const from = source.type === "file" ? source.path : join(source.path, file.name);
    await copyWithProgress(from, unfinished, options).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      throw new ModelError(
        source.type === "file"
          ? sentenceOf("model_file_missing", { path: from })
          : `${source.path} has no file ${file.name}`,
      );
    });
  } else {
    await downloadFile(urlOf(plan, file, source.mirror), unfinished, file.bytes, options);
  }
  if ((await hashFile(unfinished, options.signal)) !== file.sha256) {
    await rm(unfinished, { force: true });
    throw new ModelError(
      source.type === "download"
        ? sentenceOf("model_damaged", { file: file.name, model: plan.name })
        : sentenceOf("model_copy_damaged", { file: file.name, model: plan.name }),
    );
  }
  await syncToDisk(unfinished);
  await rename(unfinished, path);
}

/** How much of a file is copied at a time. */
const copyBytes = 1 << 20;

/** Copies a file; stops at the signal. */
async function copyWithProgress(
  from: string,
  to: string,
  options: { readonly onProgress: (bytes: number) => void; readonly signal?: AbortSignal },
): Promise<void> {
  await refuseNoFile(from);
  const source = createReadStream(from, {
    highWaterMark: copyBytes,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  const target = await open(to, "w", 0o600);
  try {
    let done = 0;
    for await (const piece of source as AsyncIterable<Buffer>) {
      for (let written = 0; written < piece.length; )
        written += (await target.write(piece, written)).bytesWritten;
      done += piece.length;
      options.onProgress(done);
    }
  } finally {
    await target.close();
  }
}

function urlOf(plan: Plan, file: Plan["files"][number], mirror: string | null): string {
  if (mirror !== null) {
    const base = mirror.endsWith("/") ? mirror : `${mirror}/`;
    const url = URL.parse(`${plan.name}/${file.name}`, base);
    if (url === null || !/^https?:$/.test(url.protocol)) throw new ModelError(sentences.model_mirror);
    return url.href;
  }
  if (file.url === null) throw new Error(`${file.name} has no address`);
  return file.url;
}

async function writeMarker(part: string, plan: Plan): Promise<void> {
  const marker: Marker = {
    ...plan,
    installed_at: new Date().toISOString(),
    files: plan.files.map(({ name, bytes, sha256 }) => ({ name, bytes, sha256 })),
  };
  const path = join(part, markerName);
  const handle = await open(path, "w", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(marker, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
