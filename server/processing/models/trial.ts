import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { InstalledModel } from "./store.ts";

/** How fast a language model is on this machine, in tokens a second. */
const Trial = z.object({ read: z.number().positive(), written: z.number().positive() });
type Trial = z.output<typeof Trial>;

const fileName = "trial.json";

/**
 * An hour of meeting has 12,000 tokens. Its parts are read for notes and again for chapters. With the prompts, thirty notes of
 * each part, which are shortened twice, and the quotes of all, so many are read and written.
 */
const hourTokens = { read: 40_000, written: 9_600 };

/** @returns null when the model was not tried yet. */
async function findTrial({ folder }: Pick<InstalledModel, "folder">): Promise<Trial | null> {
  const text = await readFile(join(folder, fileName), "utf8").catch(() => null);
  if (text === null) return null;
  try {
    return Trial.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    // Written by another version, or cut off.
    return null;
  }
}

/** Minutes that the summary of an hour of meeting takes; null: the model was not tried yet. */
export async function findMinutesPerHour(model: Pick<InstalledModel, "folder">): Promise<number | null> {
  const trial = await findTrial(model);
  if (trial === null) return null;
  return Math.ceil((hourTokens.read / trial.read + hourTokens.written / trial.written) / 6) / 10;
}

export async function saveTrial({ folder }: Pick<InstalledModel, "folder">, trial: Trial): Promise<void> {
  const path = join(folder, fileName);
  await writeFile(`${path}.part`, JSON.stringify(trial), { mode: 0o600 });
  await rename(`${path}.part`, path);
}
