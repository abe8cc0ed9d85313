import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/** An upload that has begun and not ended, so that the same command goes on with it. */
export interface UploadRecord {
  readonly server: string;
  /** Says which token it was begun with, without being one: with another token it is another upload. */
  readonly token_mark: string;
  /** Absolute. */
  readonly path: string;
  /** A file that has changed since is another one. */
  readonly size: number;
  readonly modified_ms: number;
  /** What it was created with, as JSON: with other options it is another upload. */
  readonly input: string;
  readonly upload_id: string;
  /** Whoever has it may send the file: the reason why nobody else may read this. */
  readonly tus_url: string;
  readonly begun_at: string;
}

/** What names a record. */
export type RecordKey = Pick<
  UploadRecord,
  "server" | "token_mark" | "path" | "size" | "modified_ms" | "input"
>;

/** Records are kept for this long; the server has forgotten such uploads by then. */
const keptMs = 30 * 24 * 3_600_000;

/** Where they are kept. Source: XDG Base Directory Specification, "state that persists between restarts". */
export function stateFile(env: NodeJS.ProcessEnv): string {
  const home = env.XDG_STATE_HOME || join(homedir(), ".local", "state");
  return join(home, "parley", "uploads.json");
}

export async function findRecord(file: string, key: RecordKey): Promise<UploadRecord | undefined> {
  return (await readRecords(file)).find((record) => isSame(record, key));
}

/** Keeps a record in the place of an earlier one of the same file. */
export async function keepRecord(file: string, record: UploadRecord): Promise<void> {
  const others = (await readRecords(file)).filter((other) => !isSame(other, record));
  await writeRecords(file, [...others, record]);
}

export async function dropRecord(file: string, key: RecordKey): Promise<void> {
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
    // Nothing was kept yet, or what was kept can't be read: then the file is sent from its beginning.
    if ((error as NodeJS.ErrnoException).code === "ENOENT" || error instanceof SyntaxError) return [];
    throw error;
  }
}

/** Written beside and renamed, so that a crash leaves the old or the new one. */
async function writeRecords(file: string, uploads: readonly UploadRecord[]): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const beside = `${file}.${process.pid}`;
  await writeFile(beside, `${JSON.stringify({ uploads }, null, 2)}\n`, { mode: 0o600 });
  await rename(beside, file);
}
