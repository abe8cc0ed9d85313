import { accessSync, constants, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const packages = fileURLToPath(new URL("../../node_modules", import.meta.url));

/** Packages of hundreds of small modules, which take longer to find and open than to run. */
const names = ["kysely", "zod"] as const;

/** These packages, each with the file that contains the whole of its installed version. */
export function bundledPackages(): { readonly name: string; readonly file: string }[] {
  return names.map((name) => {
    const { version } = JSON.parse(readFileSync(join(packages, name, "package.json"), "utf8"));
    // In node_modules, so that an installation removes the files of older versions.
    return { name, file: join(packages, ".parley-bundled", `${name}-${version}.js`) };
  });
}

/** From now on loads these packages from their bundles, as far as scripts/bundle-packages.ts has written them. */
export function useBundledPackages(): void {
  const written = bundledPackages().filter(({ file }) => isReadable(file));
  const urls = new Map(written.map(({ name, file }) => [name, pathToFileURL(file).href]));
  registerHooks({
    resolve(specifier, context, next) {
      const url = urls.get(specifier);
      return url === undefined ? next(specifier, context) : { url, format: "module", shortCircuit: true };
    },
  });
}

/** Another user, whose umask allows nothing to others, may have written it. */
function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
