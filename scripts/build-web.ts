import { buildWebApp } from "../server/operations/web/build.ts";

/** Builds the web app unless what is there was built from these very files. */
const say = (line: string): boolean => process.stderr.write(`parley: ${line}\n`);
try {
  await buildWebApp(say);
} catch (error) {
  say(`the web app could not be built: ${(error as Error).message}`);
  process.exitCode = 1;
}
