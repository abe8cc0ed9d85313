import { buildWebApp } from "../server/operations/web/build.ts";
import { keepThreadPoolAwake } from "../server/platform/thread-pool.ts";
import { bundleAll } from "./bundle.ts";

/** Builds the web app unless what is there was built from these very files, and bundles parts of the server. */
keepThreadPoolAwake();
const say = (line: string): boolean => process.stderr.write(`parley: ${line}\n`);
try {
  await buildWebApp(say);
} catch (error) {
  say(`the web app could not be built: ${(error as Error).message}`);
  process.exitCode = 1;
}
// Only saves time, and may fail where another user owns the packages.
await bundleAll().catch((error: Error) => say(`parts of the server were not bundled: ${error.message}`));
