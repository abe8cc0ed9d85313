import { existsSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const packages = fileURLToPath(new URL("../../node_modules", import.meta.url));

/** In node_modules, so that an installation removes what was made of older versions. */
export const bundlesFolder = join(packages, ".parley-bundled");

/** Packages of hundreds of small modules, which take longer to find and open than to run. */
const names = ["kysely", "zod"] as const;

/** These packages, each with the file that contains the whole of its installed version. */
export function bundledPackages(): { readonly name: string; readonly file: string }[] {
  return names.map((name) => {
    const { version } = JSON.parse(readFileSync(join(packages, name, "package.json"), "utf8"));
    return { name, file: join(bundlesFolder, `${name}-${version}.js`) };
  });
}

/** From now on loads these packages from their bundles, as far as scripts/bundle.ts has written them. */
export function useBundledPackages(): void {
  const written = bundledPackages().filter(({ file }) => existsSync(file));
  const urls = new Map(written.map(({ name, file }) => [name, pathToFileURL(file).href]));
  registerHooks({
    resolve(specifier, context, next) {
      const url = urls.get(specifier);
      return url === undefined ? next(specifier, context) : { url, format: "module", shortCircuit: true };
    },
  });
}
