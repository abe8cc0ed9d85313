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

/**
 * From now on spares Node part of the work of loading modules: packages are loaded from their bundles, as far as
 * scripts/bundle.ts has written them, and imports between Parley's own modules, which name the very file, are not searched.
 */
export function speedUpModuleLoading(): void {
  const written = bundledPackages().filter(({ file }) => existsSync(file));
  const bundles = new Map(written.map(({ name, file }) => [name, pathToFileURL(file).href]));
  registerHooks({
    resolve(specifier, context, next) {
      const bundle = bundles.get(specifier);
      if (bundle !== undefined) return { url: bundle, format: "module", shortCircuit: true };
      const { parentURL } = context;
      if (!specifier.startsWith(".") || !specifier.endsWith(".ts") || !parentURL?.endsWith(".ts"))
        return next(specifier, context);
      return { url: new URL(specifier, parentURL).href, format: "module-typescript", shortCircuit: true };
    },
  });
}
