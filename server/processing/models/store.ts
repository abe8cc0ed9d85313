import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { ModelFile } from "./catalogue.ts";

/** An expected failure around models; the message is for users. */
export class ModelError extends Error {}

/** Whether an error of the file system says that there is no room: trying again doesn't help. */
export function isDiskFull(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");
}

/** The file whose presence says that a model is complete; it records what was installed. */
export const markerName = "model.json";

const Marker = z.object({
  name: z.string(),
  kind: z.enum(["transducer", "whisper", "speakers", "language"]),
  /** Whether it came from a folder and is not in the catalogue. */
  custom: z.boolean(),
  languages: z.array(z.string()).nullable(),
  revision: z.string().nullable(),
  license: z.string().nullable(),
  installed_at: z.string(),
  files: z.array(z.object({ name: z.string(), bytes: z.number(), sha256: z.string() })).min(1),
});
export type Marker = z.output<typeof Marker>;

/** A complete model on this machine. */
export interface InstalledModel extends Marker {
  readonly folder: string;
}

/** Names of models are names of folders. */
export const modelName = /^[a-z0-9][a-z0-9._-]{0,63}$/;

export function modelsFolder(dataDir: string): string {
  return join(dataDir, "models");
}

/** The installed models by name. A folder without a readable marker is no model. */
export async function listInstalled(dataDir: string): Promise<InstalledModel[]> {
  const names = await readdir(modelsFolder(dataDir)).catch(() => []);
  const found = await Promise.all(
    names.filter((name) => modelName.test(name)).map((name) => findInstalled(dataDir, name)),
  );
  return found.filter((model) => model !== null).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** @returns null when the model is not installed. */
export async function findInstalled(dataDir: string, name: string): Promise<InstalledModel | null> {
  const folder = join(modelsFolder(dataDir), name);
  const text = await readFile(join(folder, markerName), "utf8").catch(() => null);
  if (text === null) return null;
  try {
    const marker = Marker.safeParse(JSON.parse(text));
    return marker.success && marker.data.name === name ? { ...marker.data, folder } : null;
  } catch {
    return null;
  }
}

/** Removes a model. What uses it now keeps its open files. @throws ModelError when it is not installed. */
export async function removeModel(dataDir: string, name: string): Promise<void> {
  const model = modelName.test(name) ? await findInstalled(dataDir, name) : null;
  if (model === null)
    throw new ModelError(`the model ${name} is not installed; parley models list shows what is`);
  await moveAside(dataDir, name);
  await sweepRemoved(dataDir);
}

const removedPrefix = ".removed-";

/** Takes a model's folder away at once, if there is one, also when it is damaged; the sweep removes its files. */
export async function moveAside(dataDir: string, name: string): Promise<void> {
  const folder = modelsFolder(dataDir);
  await rename(join(folder, name), join(folder, `${removedPrefix}${randomUUID()}`)).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    },
  );
}

/** Removes the files of models that were taken away, also those that a killed process left. */
export async function sweepRemoved(dataDir: string): Promise<void> {
  const folder = modelsFolder(dataDir);
  for (const name of await readdir(folder).catch(() => []))
    if (name.startsWith(removedPrefix)) await rm(join(folder, name), { recursive: true, force: true });
}

/** Hex SHA-256 of a file. */
export async function hashFile(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path, {
    highWaterMark: 1 << 20,
    ...(signal === undefined ? {} : { signal }),
  }))
    hash.update(piece as Buffer);
  return hash.digest("hex");
}

/** What is wrong with an installed file; null: nothing. */
async function findDamage(folder: string, file: ModelFile): Promise<string | null> {
  const path = join(folder, file.name);
  const bytes = await stat(path).then(
    (info) => info.size,
    () => null,
  );
  if (bytes === null) return `${file.name} is missing`;
  if (bytes !== file.bytes) return `${file.name} has ${bytes} bytes instead of ${file.bytes}`;
  return (await hashFile(path)) === file.sha256 ? null : `${file.name} does not match its SHA-256`;
}

/** What is wrong with a model's files, one line each. */
export async function verifyModel(model: InstalledModel): Promise<string[]> {
  const damage: string[] = [];
  for (const file of model.files) {
    const found = await findDamage(model.folder, file);
    if (found !== null) damage.push(found);
  }
  return damage;
}

/** Times of the files that were verified by this process, by folder. */
const verified = new Map<string, string>();

/**
 * Verifies a model before it is used, again only after a file has changed.
 * @throws ModelError naming the damaged files.
 */
export async function ensureIntact(model: InstalledModel): Promise<void> {
  const state = await Promise.all(
    model.files.map(({ name }) =>
      stat(join(model.folder, name)).then(
        (info) => `${name}:${info.ino}:${info.size}:${info.mtimeMs}`,
        () => `${name}:missing`,
      ),
    ),
  );
  const key = state.join("|");
  if (verified.get(model.folder) === key) return;
  const damage = await verifyModel(model);
  if (damage.length > 0)
    throw new ModelError(
      `The model ${model.name} is damaged: ${damage.join("; ")}. Remove and install it again.`,
    );
  verified.set(model.folder, key);
}
