import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bench } from "../bench.ts";
import { median } from "../load.ts";
import { type Figure, figure } from "../report.ts";
import { type CommandCost, measureCommand, startParley } from "../servers.ts";

/**
 * How fast `parley serve` with its own PostgreSQL is ready, on an empty folder and on its own, and what commands take
 * beside it.
 */
export async function measureStart({ sizes }: Bench): Promise<Figure[]> {
  const first: number[] = [];
  const later: number[] = [];
  const help: CommandCost[] = [];
  const token: CommandCost[] = [];
  for (let folderNumber = 0; folderNumber < sizes.firstStarts; folderNumber += 1) {
    const folder = mkdtempSync(join(tmpdir(), "parley-bench-start-"));
    // The database's system user passes through, or root's database would land outside of the folder and stay.
    chmodSync(folder, 0o711);
    // A first start has nothing compiled yet either.
    const env = {
      PARLEY_DATA_DIR: join(folder, "data"),
      ...(sizes.hasNothingCompiled ? { NODE_COMPILE_CACHE: join(folder, "compiled") } : {}),
    };
    try {
      for (let start = 0; start <= sizes.laterStarts; start += 1) {
        const server = await startParley(env);
        (start === 0 ? first : later).push(server.readyMs / 1000);
        if (start === sizes.laterStarts) {
          help.push(await measureCommand(["--help"], env));
          token.push(await measureCommand(["token", "create", "--email", "admin@parley.local"], env));
        }
        await server.stop();
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  const list = (values: readonly number[]): string => values.map((value) => value.toFixed(2)).join(", ");
  const medianOf = (costs: readonly CommandCost[], kind: keyof CommandCost): number =>
    median(costs.map((cost) => cost[kind]));
  const helpSec = medianOf(help, "cpuSec");
  const helpMb = medianOf(help, "maxMb");
  const tokenSec = medianOf(token, "cpuSec");
  return [
    figure("first start, until ready", Math.max(...first), `${list(first)} s`, " s", { max: 10 }),
    ...(later.length === 0
      ? []
      : [figure("later start, until ready", Math.max(...later), `${list(later)} s`, " s", { max: 3 })]),
    figure("`parley --help`, processor time", helpSec, `${helpSec.toFixed(2)} s`, " s", { max: 0.25 }),
    figure("`parley --help`, memory", helpMb, `${helpMb.toFixed(0)} MB`, " MB", { max: 90 }),
    figure("`parley token create`, processor time", tokenSec, `${tokenSec.toFixed(2)} s`, " s", { max: 0.6 }),
  ];
}
