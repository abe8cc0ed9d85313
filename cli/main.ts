import { enableCompileCache } from "node:module";

// Before other modules load: caching compiled code halves the start-up time.
enableCompileCache();
const { run } = await import("./program.ts");
await run(process.argv);
