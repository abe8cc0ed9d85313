import { writeSync } from "node:fs";
import { type DestinationStream, type Logger, pino, symbols } from "pino";

/** How long a line waits for others: writing each alone takes a tenth of the time of a short request. */
const maxWaitMs = 20;

/** Lines of this level and above are written at once, with all before them: `warn`. */
const urgentLevel = 40;

/** Lines of this length together are written without waiting for more. */
const maxWaiting = 8 * 1024;

/**
 * Writes lines to standard error together. The last ones are written when the process exits, also after an uncaught error; a
 * process that is killed loses those of the last 20 ms below `warn`.
 */
function createDestination(): DestinationStream {
  let waiting = "";
  let timer: NodeJS.Timeout | null = null;
  const flush = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const lines = waiting;
    waiting = "";
    writeToStandardError(Buffer.from(lines));
  };
  process.on("exit", flush);
  return {
    // Has pino set `lastLevel`.
    [symbols.needsMetadataGsym]: true,
    lastLevel: 0,
    write(line: string) {
      waiting += line;
      if (this.lastLevel >= urgentLevel || waiting.length >= maxWaiting) flush();
      else timer ??= setTimeout(flush, maxWaitMs).unref();
    },
  } as DestinationStream & { lastLevel: number };
}

/** How long a reader who is behind is waited for before the next attempt. */
const retryMs = 100;

/**
 * What can't be written is lost, because nobody reads standard error any more or its disk is full: the server has to continue.
 * pino's own destination would wait for it to become possible, with the process at a standstill.
 */
function writeToStandardError(bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(2, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs);
    }
  }
}

/**
 * Makes the log: one JSON object a line on standard error, so that standard output stays free for what a command
 * was asked for. Headers and bodies are never given to it; should one slip in, what could be a secret is removed.
 */
export function createLog(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      // Never a database error's detail: it quotes what rows hold.
      serializers: {
        err: (error: Error & { code?: unknown; constraint?: unknown }) => ({
          type: error.constructor.name,
          message: error.message,
          code: error.code,
          constraint: error.constraint,
          stack: error.stack,
        }),
      },
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: ["*.authorization", "*.cookie", "*.password", "*.token", "*.secret", "req", "res"],
        remove: true,
      },
    },
    createDestination(),
  );
}
