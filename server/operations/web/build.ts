import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** The folder of the built app; its name is derived from the sources it was built from. */
const buildsFolder = join(root, "web", "dist");

/**
 * The app for signed-in users, and the page for visitors of public links. They are built separately, so that visitors
 * don't load code that only the app's pages share.
 */
const documents = ["index.html", "public-link.html"] as const;

/** Files smaller than this are not compressed. */
const minBytes = 256;

/** The folder of the app built from the current sources; null when it was not built yet. */
export function findWebApp(): string | null {
  const folder = webAppFolder();
  return existsSync(join(folder, "index.html")) ? folder : null;
}

/** Why `findWebApp` returned null, with the remedy. */
export function missingWebApp(): string {
  const folder = webAppFolder();
  return existsSync(folder)
    ? `the web app in ${folder} can't be read by this user; as its owner run: chmod -R a+rX ${buildsFolder}`
    : "the web app is not built; as the owner of this folder run: npm run build";
}

/** Makes the build readable for all users regardless of the umask, because another user may serve it. */
function openForReading(folder: string): void {
  for (const path of [
    buildsFolder,
    folder,
    ...globSync("**/*", { cwd: folder }).map((name) => join(folder, name)),
  ]) {
    const entry = statSync(path);
    const mode = entry.isDirectory() ? 0o755 : 0o644;
    const isOurs = process.getuid?.() === 0 || process.getuid?.() === entry.uid;
    if (isOurs && (entry.mode & 0o777) !== mode) chmodSync(path, mode);
  }
}

let appFolder: string | undefined;

/** Its name is a hash of the sources, which the installation computes too; once here, because all of them are read. */
function webAppFolder(): string {
  if (appFolder !== undefined) return appFolder;
  const { webFolder } = createRequire(import.meta.url)("../../../scripts/web-folder.cjs");
  const folder: string = webFolder(root);
  appFolder = folder;
  return folder;
}

/**
 * Builds the web app unless it is there, built from these very files. It is made elsewhere and put in place at once,
 * so that several processes may build at the same time.
 * @returns the folder of the build.
 */
export async function buildWebApp(say: (line: string) => void): Promise<string> {
  const target = webAppFolder();
  if (findWebApp() !== null) {
    openForReading(target);
    return target;
  }
  if (existsSync(target)) throw new Error(missingWebApp());
  say("building the web app; this happens once after each update");
  const { build } = await import("vite");
  mkdirSync(buildsFolder, { recursive: true });
  const draft = mkdtempSync(join(buildsFolder, ".draft-"));
  try {
    for (const [index, name] of documents.entries())
      await build({
        configFile: join(root, "web", "vite.config.ts"),
        logLevel: "warn",
        build: {
          outDir: draft,
          emptyOutDir: index === 0,
          // Only the app loads its pages one by one.
          manifest: index === 0,
          rolldownOptions: { input: join(root, "web", name) },
        },
      });
    await compressAll(draft);
    openForReading(draft);
    for (const older of globSync("*", { cwd: buildsFolder }))
      if (join(buildsFolder, older) !== target)
        rmSync(join(buildsFolder, older), { recursive: true, force: true });
    try {
      renameSync(draft, target);
    } catch (error) {
      // Another process finished the same build first.
      if (findWebApp() !== target) throw error;
    }
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return target;
}

/** Adds compressed versions of files that get smaller by it. */
async function compressAll(folder: string): Promise<void> {
  for (const file of globSync("**/*.{js,css,html,svg,json}", { cwd: folder })) {
    const content = readFileSync(join(folder, file));
    if (content.length < minBytes) continue;
    const best = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
    writeFileSync(join(folder, `${file}.br`), await promisify(brotliCompress)(content, best));
    writeFileSync(join(folder, `${file}.gz`), await promisify(gzip)(content, { level: 9 }));
  }
}
