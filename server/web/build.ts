import { createHash } from "node:crypto";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Where the built app lies; its name tells which files it was built from. */
const buildsFolder = join(root, "web", "dist");

/**
 * The app for people who signed in, and what public links show. Each is built alone: together, who follows a link would load
 * what only the app's pages have in common.
 */
const documents = ["index.html", "shared.html"] as const;

/** Smaller than this, a file is not worth compressing. */
const leastBytes = 256;

/** The folder of the app as built from these very files; null when it was not built yet. */
export function findWebApp(): string | null {
  const folder = webAppFolder();
  return existsSync(join(folder, "index.html")) ? folder : null;
}

function webAppFolder(): string {
  return join(buildsFolder, fingerprint());
}

/**
 * Builds the web app unless it is there, built from these very files. It is made elsewhere and put in place at once,
 * so that several processes may build at the same time.
 * @returns the folder it lies in.
 */
export async function buildWebApp(say: (line: string) => void): Promise<string> {
  const found = findWebApp();
  if (found !== null) return found;
  const target = webAppFolder();
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
          // That of the app, whose pages are loaded one by one.
          manifest: index === 0,
          rolldownOptions: { input: join(root, "web", name) },
        },
      });
    await compressAll(draft);
    for (const older of globSync("*", { cwd: buildsFolder }))
      if (join(buildsFolder, older) !== target)
        rmSync(join(buildsFolder, older), { recursive: true, force: true });
    try {
      renameSync(draft, target);
    } catch (error) {
      // Another process was done first: what it built is the same.
      if (findWebApp() !== target) throw error;
    }
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return target;
}

/** Changes when anything that goes into the app changes. */
function fingerprint(): string {
  const hash = createHash("sha256");
  const sources = globSync(["web/**/*", "contract/**/*.ts", "package-lock.json"], {
    cwd: root,
    exclude: ["web/dist/**"],
    withFileTypes: true,
  })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of sources)
    hash.update(file.slice(root.length)).update("\0").update(readFileSync(file)).update("\0");
  return hash.digest("hex").slice(0, 16);
}

/** Puts compressed forms beside the files that gain by it. */
async function compressAll(folder: string): Promise<void> {
  for (const file of globSync("**/*.{js,css,html,svg,json}", { cwd: folder })) {
    const content = readFileSync(join(folder, file));
    if (content.length < leastBytes) continue;
    const best = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
    writeFileSync(join(folder, `${file}.br`), await promisify(brotliCompress)(content, best));
    writeFileSync(join(folder, `${file}.gz`), await promisify(gzip)(content, { level: 9 }));
  }
}
