import { type Logger, pino } from "pino";

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
    pino.destination({ fd: 2, sync: true }),
  );
}
