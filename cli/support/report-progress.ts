import { Presets, SingleBar } from "cli-progress";

/** Progress of a long command in numbers. */
interface ReportedProgress {
  readonly phase: string;
  /** How much there is, and how much of it is done. */
  readonly total: number;
  readonly done: number;
  readonly bytes?: number;
}

/** Shows the progress of a long command. */
export interface ProgressReport {
  update(progress: ReportedProgress): void;
  /** Ends the bar, so that messages can follow. */
  done(): void;
}

/** How often a line of JSON is printed, besides the first and the last of each phase. */
const lineEveryMs = 1000;

/** A bar on a terminal; with `--json` lines of JSON on standard output; otherwise nothing. */
export function reportProgress(options: { readonly json?: boolean }): ProgressReport {
  if (options.json) return reportLines();
  return process.stderr.isTTY ? reportBar() : { update: () => {}, done: () => {} };
}

function reportBar(): ProgressReport {
  let [bar, phase]: [SingleBar | null, string] = [null, ""];
  return {
    update(progress) {
      if (progress.phase !== phase) {
        bar?.stop();
        phase = progress.phase;
        bar = new SingleBar(
          {
            format: `${phase} {bar} {percentage} %  {value}/{total}`,
            stream: process.stderr,
            gracefulExit: false,
          },
          Presets.shades_classic,
        );
        bar.start(progress.total, progress.done);
      }
      bar?.setTotal(Math.max(progress.total, progress.done));
      bar?.update(progress.done);
    },
    done: () => bar?.stop(),
  };
}

function reportLines(): ProgressReport {
  let [last, phase, line]: [number, string, string] = [Number.NEGATIVE_INFINITY, "", ""];
  return {
    update(progress) {
      const now = performance.now();
      const next = JSON.stringify(progress);
      const isMinor = progress.phase === phase && (progress.done < progress.total || next === line);
      if (isMinor && now - last < lineEveryMs) return;
      [last, phase, line] = [now, progress.phase, next];
      process.stdout.write(`${next}\n`);
    },
    done: () => {},
  };
}
