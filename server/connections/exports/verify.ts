import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { PortableExport, PortableRecording } from "../../../contract/recordings/portable.ts";
import { fingerprintOf } from "../../processing/integrity/stored-files.ts";
import { ExportError } from "./errors.ts";

export interface VerifiedExport {
  readonly recordings: number;
  readonly files: number;
  readonly bytes: number;
  /** What is missing or damaged, as `<path>: <problem>`. */
  readonly problems: readonly string[];
}

/**
 * Reads every file of an export and compares it with its SHA-256. Needs no database.
 * @throws ExportError when the export is not complete.
 */
export async function verifyExport(
  folder: string,
  onProgress?: (progress: { phase: string; total: number; done: number; bytes: number }) => void,
): Promise<VerifiedExport> {
  const { recordings } = await readExport(folder);
  const problems: string[] = [];
  let [files, bytes] = [0, 0];
  for (const [index, id] of recordings.entries()) {
    const metadata = await readMetadata(folder, id).catch((error: Error) => {
      problems.push(`${id}/metadata.json: ${error.message}`);
      return null;
    });
    for (const file of metadata?.files ?? []) {
      const problem = await checkFile(join(folder, id, file.name), file);
      if (problem !== null) problems.push(`${id}/${file.name}: ${problem}`);
      files += 1;
      bytes += file.bytes;
    }
    onProgress?.({ phase: "verify", total: recordings.length, done: index + 1, bytes });
  }
  return { recordings: recordings.length, files, bytes, problems };
}

/** Compares a file with its fingerprint. @returns what is wrong with it; null: nothing. */
export async function checkFile(
  path: string,
  file: PortableRecording["files"][number],
): Promise<string | null> {
  try {
    const found = await fingerprintOf(createReadStream(path, { highWaterMark: 1 << 20 }));
    if (found.bytes !== file.bytes) return `has ${found.bytes} bytes instead of ${file.bytes}`;
    return found.sha256.toString("hex") === file.sha256
      ? null
      : "has other content than when it was exported";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "is missing" : (error as Error).message;
  }
}

/** The list of an export's recordings. @throws ExportError when the folder is no complete export. */
export async function readExport(folder: string): Promise<PortableExport> {
  const path = join(folder, "export.json");
  const text = await readShort(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    throw new ExportError(`${folder} has no export.json; it is not an export, or the export was interrupted`);
  });
  const parsed = PortableExport.safeParse(parseJson(text));
  if (!parsed.success) throw new ExportError(`${path} is not the list of an export`);
  const unsafe = parsed.data.recordings.find((id) => !/^[0-9a-f-]{36}$/.test(id));
  if (unsafe !== undefined) throw new ExportError(`${path} names a recording that is not a UUID`);
  return parsed.data;
}

/** The list and the metadata of any export are much shorter. */
const maxJsonBytes = 64 * 1024 * 1024;

/** Reads a small text file. @throws Error when it is too long, and those of the file system. */
async function readShort(path: string): Promise<string> {
  if ((await stat(path)).size > maxJsonBytes) throw new Error(`is longer than ${maxJsonBytes} bytes`);
  return readFile(path, "utf8");
}

/** The metadata of one recording of an export. @throws Error that says what is wrong with it. */
export async function readMetadata(folder: string, id: string): Promise<PortableRecording> {
  const text = await readShort(join(folder, id, "metadata.json")).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "ENOENT" ? new Error("is missing") : error;
  });
  const parsed = PortableRecording.safeParse(parseJson(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`does not match the schema: ${issue?.path.join(".")} ${issue?.message}`);
  }
  const unsafe = parsed.data.files.find(({ name }) => !/^[a-z][a-z0-9.-]{0,60}$/.test(name));
  if (unsafe !== undefined) throw new Error("names a file outside of its folder");
  return parsed.data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
