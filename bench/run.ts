import { measureAll } from "./figures/index.ts";
import { readOptions, usage } from "./options.ts";
import { elapsed, report } from "./report.ts";

try {
  const options = readOptions(process.argv.slice(2));
  if (options === "help") console.log(usage);
  else {
    const startedAt = performance.now();
    const figures = await measureAll(options);
    report(figures, { sizes: options.sizes, took: elapsed(startedAt) });
  }
} catch (error) {
  console.error(`bench: ${(error as Error).stack}`);
  process.exitCode = 1;
}
