import { enableCompileCache } from "node:module";
import { useBundledPackages } from "../server/platform/bundled-packages.ts";

// Before other modules load: each nearly halves the start-up time of most commands.
enableCompileCache();
useBundledPackages();
const { run } = await import("./program.ts");
await run(process.argv);
