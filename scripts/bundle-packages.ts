import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundledPackages } from "../server/platform/bundled-packages.ts";

/**
 * Writes each of the bundled packages to one file, unless that is there: a command then starts in two thirds of the
 * processor time. Without these files everything works as well.
 */
export async function bundlePackages(): Promise<void> {
  const missing = bundledPackages().filter(({ file }) => !existsSync(file));
  if (missing.length === 0) return;
  const { build } = await import("vite");
  for (const { name, file } of missing) {
    mkdirSync(dirname(file), { recursive: true });
    // Renamed when it is complete, because other processes load what they find.
    const draft = mkdtempSync(join(dirname(file), ".draft-"));
    try {
      await build({
        configFile: false,
        logLevel: "warn",
        publicDir: false,
        ssr: { noExternal: true },
        build: {
          ssr: fileURLToPath(import.meta.resolve(name)),
          outDir: draft,
          rolldownOptions: { output: { entryFileNames: basename(file) } },
        },
      });
      renameSync(join(draft, basename(file)), file);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  }
}

if (import.meta.main) await bundlePackages();
