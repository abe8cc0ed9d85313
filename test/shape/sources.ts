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
  const found = source.text.matchAll(
    /(?:^|\n)\s*(?:import|export)\s[^;]*?from\s+"([^"]+)"|(?:^|\n)\s*import\s+"([^"]+)"|import\("([^"]+)"\)/g,
  );
  return [...found]
    .map(([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? "")
    .map((name) => (name.startsWith(".") ? normalize(join(dirname(source.path), name)) : name));
}
