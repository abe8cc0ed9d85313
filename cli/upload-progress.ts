import { Presets, SingleBar } from "cli-progress";

/** Shows how far a file has come. */
export interface Progress {
  /** @param bytes that have arrived or are on their way. */
  moved(bytes: number): void;
  /** Takes the bar off the screen, so that words can follow. */
  done(): void;
}

/** @param how a bar that moves, a line now and then, or nothing for programs. */
export function showProgress(name: string, totalBytes: number, how: "bar" | "lines" | "silent"): Progress {
  if (how === "bar") return showBar(name, totalBytes);
  if (how === "lines") return showLines(name, totalBytes);
  return { moved: () => {}, done: () => {} };
}

function showBar(name: string, totalBytes: number): Progress {
  const bar = new SingleBar(
    {
      format: `${name.replaceAll(/[{}]/g, "_")} [{bar}] {percentage} % of ${megabytes(totalBytes)} MB, {eta_formatted} left`,
      stream: process.stderr,
      etaBuffer: 100,
      hideCursor: true,
      formatTime: describeTime,
      // Ctrl-C ends the process in its own way; see below.
      gracefulExit: false,
    },
    Presets.legacy,
  );
  const stop = (): void => bar.stop();
  // However it ends, the terminal gets its cursor back.
  process.once("exit", stop);
  bar.start(totalBytes, 0);
  return {
    moved: (bytes) => bar.update(bytes),
    done() {
      process.off("exit", stop);
      stop();
    },
  };
}

/** Infinite, in the library's reckoning, until the first bytes have moved. */
function describeTime(seconds: number): string {
  if (!Number.isFinite(seconds)) return "some time";
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return `${Math.round(seconds / 60)} min`;
}

function showLines(name: string, totalBytes: number): Progress {
  let shown = 0;
  return {
    moved(bytes) {
      const tenths = Math.floor((bytes / totalBytes) * 10);
      if (tenths <= shown) return;
      shown = tenths;
      console.error(`parley: ${name}: ${tenths * 10} % of ${megabytes(totalBytes)} MB`);
    },
    done: () => {},
  };
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
