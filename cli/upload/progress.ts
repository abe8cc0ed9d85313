import { Presets, SingleBar } from "cli-progress";

/** Progress display of one file. */
export interface Progress {
  /** @param bytes sent so far, including those in flight. */
  moved(bytes: number): void;
  /** Stops the bar, so that messages can follow. */
  done(): void;
}

/** @param how a progress bar, a line for every 10 %, or nothing for programs. */
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
      // The command handles Ctrl-C itself.
      gracefulExit: false,
    },
    Presets.legacy,
  );
  const stop = (): void => bar.stop();
  // Restores the cursor however the process exits.
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

/** The library passes Infinity until the first bytes are sent. */
function describeTime(seconds: number): string {
  if (!Number.isFinite(seconds)) return "unknown time";
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
