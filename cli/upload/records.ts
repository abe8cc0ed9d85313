import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/** An unfinished upload, so that running the same command again resumes it. */
export interface UploadRecord {
  readonly server: string;
  /** Hash of the token it was created with: another token means another upload. */
  readonly token_mark: string;
  /** Absolute path. */
  readonly path: string;
  /** A file that has changed since counts as another file. */
  readonly size: number;
  readonly modified_ms: number;
  /** Create Upload's input as JSON: other options mean another upload. */
  readonly input: string;
  readonly upload_id: string;
  /** Allows sending the file without a token, so the records must not be readable by others. */
  readonly tus_url: string;
  readonly begun_at: string;
}

/** Identifies a record. */
export type RecordKey = Pick<
  UploadRecord,
  "server" | "token_mark" | "path" | "size" | "modified_ms" | "input"
>;

/** Records expire after 30 days; the server has deleted such uploads by then. */
const keptMs = 30 * 24 * 3_600_000;

/** Path of the records. Source: XDG Base Directory Specification, "state that persists between restarts". */
export function stateFile(env: NodeJS.ProcessEnv): string {
  const home = env.XDG_STATE_HOME || join(homedir(), ".local", "state");
  return join(home, "parley", "uploads.json");
}

export async function findRecord(file: string, key: RecordKey): Promise<UploadRecord | undefined> {
  return (await readRecords(file)).find((record) => isSame(record, key));
}

/** Saves a record and replaces an earlier one with the same key. */
export async function saveRecord(file: string, record: UploadRecord): Promise<void> {
  const others = (await readRecords(file)).filter((other) => !isSame(other, record));
  await writeRecords(file, [...others, record]);
}

export async function deleteRecord(file: string, key: RecordKey): Promise<void> {
  const records = await readRecords(file);
  const others = records.filter((record) => !isSame(record, key));
  if (others.length < records.length) await writeRecords(file, others);
}

function isSame(record: RecordKey, key: RecordKey): boolean {
  return (["server", "token_mark", "path", "size", "modified_ms", "input"] as const).every(
    (name) => record[name] === key[name],
  );
}

async function readRecords(file: string): Promise<UploadRecord[]> {
  try {
    const content = JSON.parse(await readFile(file, "utf8")) as { uploads?: UploadRecord[] };
    const since = Date.now() - keptMs;
    return (content.uploads ?? []).filter((record) => Date.parse(record.begun_at) > since);
  } catch (error) {
    // No records yet, or unreadable ones: the file is sent from its beginning.
    if ((error as NodeJS.ErrnoException).code === "ENOENT" || error instanceof SyntaxError) return [];
    throw error;
  }
}

/** Writes a temporary file and renames it, so that a crash leaves the old or the new file intact. */
async function writeRecords(file: string, uploads: readonly UploadRecord[]): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}`;
  await writeFile(temporary, `${JSON.stringify({ uploads }, null, 2)}\n`, { mode: 0o600 });
  await rename(temporary, file);
}
