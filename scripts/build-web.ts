import { buildWebApp } from "../server/web/build.ts";

/** Builds the web app unless what is there was built from these very files. */
await buildWebApp((line) => process.stderr.write(`parley: ${line}\n`));
