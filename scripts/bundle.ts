import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
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
  await bundle(program, name, false, (draft, sources) => {
    const digests = digestsOf(sources.map((path) => relative(root, path)));
    const digest = createHash("sha256").update(JSON.stringify(digests)).digest("hex").slice(0, 16);
    // A running server still loads an older one.
    const folder = `${basename(notePath(program), ".json")}-${digest}`;
    if (!existsSync(join(bundlesFolder, folder))) renameSync(draft, join(bundlesFolder, folder));
    const note = join(bundlesFolder, `.${folder}.json`);
    writeFileSync(note, JSON.stringify({ file: join(folder, name), sources: digests }));
    renameSync(note, notePath(program));
  });
}

/**
 * Bundles an entry elsewhere, and puts it in place when it is complete, because other processes load what they find.
 * @param withPackages whether it contains the packages that it imports.
 */
async function bundle(
  entry: string,
  name: string,
  withPackages: boolean,
  place: (draft: string, sources: readonly string[]) => void,
): Promise<void> {
  const { build } = await import("vite");
  const draft = mkdtempSync(join(bundlesFolder, ".draft-"));
  try {
    const built = await build({
      configFile: false,
      logLevel: "warn",
      publicDir: false,
      ssr: { noExternal: withPackages ? true : [] },
      build: { ssr: entry, outDir: draft, rolldownOptions: { output: { entryFileNames: name } } },
    });
    // For other users, such as that of confined programs, whatever the umask.
    chmodSync(bundlesFolder, 0o755);
    chmodSync(draft, 0o755);
    for (const file of globSync("**/*", { cwd: draft, withFileTypes: true }))
      chmodSync(join(file.parentPath, file.name), file.isDirectory() ? 0o755 : 0o644);
    const chunks = [built].flat().flatMap((part) => ("output" in part ? part.output : []));
    place(
      draft,
      chunks.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : [])),
    );
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

if (import.meta.main) await bundleAll();
