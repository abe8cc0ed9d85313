import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { z } from "zod";
import { isKey } from "../../platform/storage/key-rules.ts";
import { importsPrefix, recordingsPrefix, uploadsPrefix } from "../../platform/storage/layout.ts";
import { ObjectExistsError, ObjectMissingError } from "../../platform/storage/store.ts";
import { BackupDamagedError, BackupError } from "./errors.ts";
import type { BackupFolder } from "./folder.ts";

const digestSchema = z.object({
  bytes: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

const partSchema = z.object({
  name: z.string().refine(isKey, "it is not the name of a file of a backup"),
  ...digestSchema.shape,
  /** Of the compressed file; older backups don't have it. */
  stored: digestSchema.optional(),
});

const manifestSchema = z.object({
  /** The layout of the folder; a program refuses one it does not know. */
  format: z.literal(1),
  /** `database`: a copy from before an upgrade, without files and secret, which only `parley upgrade rollback` reads. */
  kind: z.enum(["full", "database"]),
  id: z.string(),
  created_at: z.iso.datetime(),
  /** The version of Parley that wrote it. */
  parley: z.string(),
  postgres: z.string(),
  /** The number of the last migration. */
  migration: z.int(),
  /** The numbers of all migrations; missing in older backups, which have all up to the last. */
  migrations: z.array(z.int()).optional(),
  /** The installation it is of. */
  installation: z.uuid(),
  tables: z.array(
    z.object({
      name: z.string(),
      columns: z.array(z.string()),
      rows: z.int().min(0),
      part: partSchema,
    }),
  ),
  sequences: z.array(z.object({ name: z.string(), value: z.string().regex(/^-?\d{1,19}$/) })),
  secret: partSchema,
  /** The list of objects: a line of JSON for each. */
  objects: z.object({ part: partSchema, count: z.int(), bytes: z.int() }),
  /** Keys of files that the database names and the store did not have, or not as they were written. */
  damaged: z.array(z.string()),
});

/** Describes a backup. Without a manifest there is no backup. */
export type Manifest = z.output<typeof manifestSchema>;

/** Bytes of all tables, before compression. */
export function tableBytesOf({ tables }: Manifest): number {
  return tables.reduce((sum, { part }) => sum + part.bytes, 0);
}

/** Where the files of an installation are. */
export const filePrefixes = [uploadsPrefix, recordingsPrefix, importsPrefix];

const objectSchema = z.object({
  /** The key in the object store. */
  key: z
    .string()
    .refine(
      (key) => isKey(key) && filePrefixes.some((prefix) => key.startsWith(prefix)),
      "it is not a key of the file store",
    ),
  ...partSchema.shape,
});

/** A file of the object store in a backup. */
export type BackedUpObject = z.output<typeof objectSchema>;

/** Backups are in folders of this name, each under its id. */
export const backupsPrefix = "backups/";
/** Files of the object store, shared by all backups. */
export const objectsPrefix = "objects/";

/** The name of a backup's manifest contains its digest, so that a change of it is noticed as well. */
const manifestName = /^backups\/([^/]+)\/manifest\.([0-9a-f]{64})\.json(?:\.age)?$/;

/** Writes the manifest, which completes the backup. */
export async function writeManifest(folder: BackupFolder, manifest: Manifest): Promise<void> {
  const bytes = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  await folder.write(`${backupsPrefix}${manifest.id}/manifest.${sha256}.json`, Readable.from([bytes]));
}

/** A complete backup. */
export interface BackupName {
  readonly id: string;
  /** The name of its manifest. */
  readonly manifest: string;
}

/** Names the installation whose backups are in a folder. */
const ownerKey = "installation";

/**
 * Makes sure that a folder has the backups of one installation only, and claims an empty one.
 * @throws BackupError if they are another's.
 */
export async function claimFolder(folder: BackupFolder, installation: string): Promise<void> {
  try {
    await folder.store.put(ownerKey, Buffer.from(installation), { ifAbsent: true });
  } catch (error) {
    if (!(error instanceof ObjectExistsError)) throw error;
    const owner = await text((await folder.store.get(ownerKey)).body);
    if (owner !== installation)
      throw new BackupError(
        `${folder.destination} has backups of another installation; choose another folder or prefix`,
      );
  }
}

/** @returns the id of the installation whose backups are in a folder. */
export async function readOwner(folder: BackupFolder): Promise<string> {
  return text(await folder.readUnchecked(ownerKey));
}

/** @throws BackupDamagedError if a folder does not name the installation of a backup in it. */
export async function checkOwner(folder: BackupFolder, { installation }: Manifest): Promise<void> {
  if ((await readOwner(folder)) !== installation)
    throw new BackupDamagedError(`${ownerKey} is damaged: it must contain ${installation}, and nothing else`);
}

/** Names files of the object store that a verification found damaged, a line each. The next backup copies them again. */
const damagedKey = "damaged";

/** Notes damaged files for the next backup. */
export async function noteDamaged(folder: BackupFolder, names: readonly string[]): Promise<void> {
  const all = await readDamaged(folder);
  for (const name of names) all.add(name);
  await folder.store.put(damagedKey, Buffer.from([...all].map((name) => `${name}\n`).join("")));
}

/** The names of files that were found damaged since the last backup. */
export async function readDamaged(folder: BackupFolder): Promise<Set<string>> {
  try {
    const { body } = await folder.store.get(damagedKey);
    return new Set((await text(body)).split("\n").filter((name) => name !== ""));
  } catch (error) {
    if (error instanceof ObjectMissingError) return new Set();
    throw error;
  }
}

/** To be called when a backup has copied them again. */
export function forgetDamaged(folder: BackupFolder): Promise<void> {
  return folder.store.delete(damagedKey);
}

/** Ids of all complete backups, the oldest first, and those of interrupted ones. */
export async function listBackups(
  folder: BackupFolder,
): Promise<{ complete: readonly BackupName[]; interrupted: readonly string[] }> {
  const ids = new Set<string>();
  const complete: BackupName[] = [];
  for await (const { key } of folder.store.list(backupsPrefix)) {
    const id = key.split("/")[1] ?? "";
    ids.add(id);
    if (manifestName.test(key)) complete.push({ id, manifest: key });
  }
  complete.sort((a, b) => (a.id < b.id ? -1 : 1));
  const whole = new Set(complete.map(({ id }) => id));
  return { complete, interrupted: [...ids].filter((id) => !whole.has(id)) };
}

/** Reads a manifest. @throws BackupDamagedError if it is not what was written. */
export async function readManifest(folder: BackupFolder, { manifest: name }: BackupName): Promise<Manifest> {
  const content = Buffer.from(await text(await folder.readUnchecked(name)));
  if (createHash("sha256").update(content).digest("hex") !== manifestName.exec(name)?.[2])
    throw new BackupDamagedError(`${name} is damaged: its content has changed since it was written`);
  const json = parseJson(name, content.toString());
  const format = json !== null && typeof json === "object" && "format" in json ? json.format : undefined;
  if (typeof format === "number" && format !== 1)
    throw new BackupError(`${name} was written by a newer Parley; use that version`);
  return parseWith(manifestSchema, name, json);
}

/** @throws BackupDamagedError that names the file. */
function parseJson(name: string, content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    throw new BackupDamagedError(`${name} is damaged: it is not valid JSON`);
  }
}

/** @throws BackupDamagedError that names the file and the first field that is not as Parley writes it. */
function parseWith<T extends z.ZodType>(schema: T, name: string, json: unknown): z.output<T> {
  const { data, error } = schema.safeParse(json);
  if (error === undefined) return data as z.output<T>;
  const [issue] = error.issues;
  const field = issue === undefined || issue.path.length === 0 ? "" : `${issue.path.join(".")}: `;
  throw new BackupDamagedError(
    `${name} is damaged: ${field}${issue?.message ?? "it is not as Parley writes it"}`,
  );
}

/**
 * Finds a backup.
 * @param id null: the newest.
 * @throws BackupError if there is none.
 */
export async function findBackup(folder: BackupFolder, id: string | null): Promise<BackupName> {
  const { complete } = await listBackups(folder);
  const found = id === null ? complete.at(-1) : complete.find((backup) => backup.id === id);
  if (found !== undefined) return found;
  throw new BackupError(
    id === null
      ? `there is no backup at ${folder.destination}`
      : `there is no backup ${id} at ${folder.destination}; \`parley backup list\` shows the ids`,
  );
}

/** Reads the list of a backup's objects. @throws BackupDamagedError that names the list, at the latest at its end. */
export async function* readObjects(folder: BackupFolder, manifest: Manifest): AsyncGenerator<BackedUpObject> {
  const { name } = manifest.objects.part;
  for await (const line of linesOf(await folder.read(manifest.objects.part))) {
    yield parseWith(objectSchema, name, parseJson(name, line));
  }
}

/** Characters of a line: a key and a name of at most 512 bytes each, and digests, are shorter. */
const maxLineLength = 100_000;

/** Lines of a stream, without their ends. A line that is longer than any Parley writes comes in pieces. */
export async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let rest = "";
  stream.setEncoding("utf8");
  for await (const chunk of stream) {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
    if (rest.length < maxLineLength) continue;
    yield rest;
    rest = "";
  }
  if (rest !== "") yield rest;
}

/** Finds and reads a backup that can be restored. @throws BackupError for a copy from before an upgrade. */
export async function readFullBackup(folder: BackupFolder, id: string | null): Promise<Manifest> {
  const manifest = await readManifest(folder, await findBackup(folder, id));
  if (manifest.kind === "database")
    throw new BackupError(
      `${folder.destination} has only copies of the database from before an upgrade; use \`parley upgrade rollback\``,
    );
  return manifest;
}
