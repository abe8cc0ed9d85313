import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { bundlesFolder } from "../module-loading.ts";

/** What scripts/bundle.ts notes of a program that it has bundled. */
interface Note {
  /** The bundle, relative to the folder of bundles. */
  readonly file: string;
  /** Of each source and each file of the bundle its digest, by path relative to the checkout. */
  readonly sources: Readonly<Record<string, string>>;
}

const root = fileURLToPath(new URL("../../..", import.meta.url));
const found = new Map<string, string>();

/** The digests of sources as they are now. */
export function digestsOf(paths: readonly string[]): Record<string, string> {
  const digest = (path: string): string =>
    createHash("sha256")
      .update(readFileSync(join(root, path)))
      .digest("base64");
  return Object.fromEntries(paths.map((path) => [path, digest(path)]));
}

/** Where the note of a program is. */
export function notePath(script: string): string {
  return join(bundlesFolder, `${relative(root, script).replaceAll("/", "-")}.json`);
}

/** The bundle of a program; null unless it was made from the sources as they are now. */
export function programBundle(script: string): string | null {
  try {
    const { file, sources } = JSON.parse(readFileSync(notePath(script), "utf8")) as Note;
    const current = digestsOf(Object.keys(sources));
    const isCurrent = Object.entries(sources).every(([path, digest]) => current[path] === digest);
    return isCurrent ? join(bundlesFolder, file) : null;
  } catch {
    // There is none, or a source was removed.
    return null;
  }
}

/**
 * What to start for a program: its bundle in plain JavaScript or its source. Decided once in each process, as long as the
 * bundle is there: an installation beside a running server removes it.
 */
export function programFile(script: string): string {
  const file = found.get(script) ?? programBundle(script) ?? script;
  found.set(script, file);
  return existsSync(file) ? file : script;
}
