import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { digestsOf, notePath, programBundle } from "../server/platform/confinement/bundled-program.ts";
import { bundledPackages, bundlesFolder } from "../server/platform/module-loading.ts";

/**
 * Bundles what takes longer to load than to run, unless that is there: packages of hundreds of modules, and programs that
 * run confined, where nothing compiled is kept. Without the bundles everything works as well.
 */
const root = fileURLToPath(new URL("..", import.meta.url));

/** A package of many modules, of which programs load few. Its native part stays where it is. */
const bundledWithPrograms = ["node-av"];

/** Programs that run often and not for long. */
const programs = ["server/platform/confinement/probe.ts", "server/processing/media/render/process/child.ts"];

export async function bundleAll(): Promise<void> {
  mkdirSync(bundlesFolder, { recursive: true });
  for (const { name, file } of bundledPackages())
    if (!existsSync(file))
      await bundle(fileURLToPath(import.meta.resolve(name)), basename(file), true, (draft) =>
        renameSync(join(draft, basename(file)), file),
      );
  for (const program of programs.map((path) => join(root, path)))
    if (programBundle(program) === null) await bundleProgram(program);
}

async function bundleProgram(program: string): Promise<void> {
  const name = basename(program).replace(/\.ts$/, ".js");
  await bundle(program, name, bundledWithPrograms, (draft, sources) => {
    // Each bundle has a folder of its own: a running server still loads an older one.
    const folder = draft.replace(".draft-", `${basename(notePath(program), ".json")}-`);
    renameSync(draft, folder);
    const parts = globSync("**/*.js", { cwd: folder }).map((path) => join(folder, path));
    const digests = digestsOf([...sources, ...parts].map((path) => relative(root, path)));
    const note = `${folder}.json`;
    writeFileSync(
      note,
      JSON.stringify({ file: relative(bundlesFolder, join(folder, name)), sources: digests }),
    );
    sync(note);
    renameSync(note, notePath(program));
  });
}

/** Has a file on the disk before it gets its name, so that no power cut leaves an empty one. */
function sync(path: string): void {
  const file = openSync(path, "r");
  fsyncSync(file);
  closeSync(file);
}

/** What changes with a module: its file, or for a package's module the file with the package's version. */
const sourceOf = (module: string): string =>
  module.replace(/(\/node_modules\/(?:@[^/]+\/)?[^/]+\/).*/, "$1package.json");

/**
 * Bundles an entry elsewhere, and puts it in place when it is complete, because other processes load what they find.
 * @param packages those it contains, of the packages that it imports; true: all.
 */
async function bundle(
  entry: string,
  name: string,
  packages: true | string[],
  place: (draft: string, sources: readonly string[]) => void,
): Promise<void> {
  const { build } = await import("vite");
  const draft = mkdtempSync(join(bundlesFolder, ".draft-"));
  try {
    const built = await build({
      configFile: false,
      logLevel: "warn",
      publicDir: false,
      ssr: { noExternal: packages },
      build: { ssr: entry, outDir: draft, rolldownOptions: { output: { entryFileNames: name } } },
    });
    // For other users, such as that of confined programs, whatever the umask.
    chmodSync(bundlesFolder, 0o755);
    chmodSync(draft, 0o755);
    for (const file of globSync("**/*", { cwd: draft, withFileTypes: true })) {
      const path = join(file.parentPath, file.name);
      chmodSync(path, file.isDirectory() ? 0o755 : 0o644);
      if (file.isFile()) sync(path);
    }
    const chunks = [built].flat().flatMap((part) => ("output" in part ? part.output : []));
    place(draft, [
      ...new Set(chunks.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds.map(sourceOf) : []))),
    ]);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

if (import.meta.main) await bundleAll();
