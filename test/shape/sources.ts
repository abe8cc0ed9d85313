import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

/** A file of the repository. */
export interface Source {
  /** From the root, with slashes. */
  readonly path: string;
  readonly text: string;
}

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Every file with one of these endings, without what is installed or generated at run time. */
export function readSources(endings: readonly string[] = [".ts", ".tsx"]): Source[] {
  return globSync(
    endings.map((ending) => `**/*${ending}`),
    { cwd: root, exclude: ["**/node_modules/**", "**/dist/**", "data/**", "bench/.data/**", ".git/**"] },
  )
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

/** What a file imports: paths from the root for our own files, names for packages. */
export function importsOf(source: Source): string[] {
  return targetsOf(
    source,
    /(?:^|\n)\s*(?:import|export)\s[^;]*?from\s+"([^"]+)"|(?:^|\n)\s*import\s+"([^"]+)"|import\("([^"]+)"\)/g,
  );
}

/** What is loaded with a file: its imports without those of types alone, and without those made later by `import()`. */
export function importsAtStart(source: Source | undefined): string[] {
  if (source === undefined) return [];
  return targetsOf(
    source,
    /(?:^|\n)(?:import|export)\s(?!type\s)[^;]*?from\s+"([^"]+)"|(?:^|\n)import\s+"([^"]+)"/g,
  );
}

function targetsOf({ path, text }: Source, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)]
    .map((found) => found.slice(1).find((name) => name !== undefined) ?? "")
    .map((name) => (name.startsWith(".") ? normalize(join(dirname(path), name)) : name));
}
