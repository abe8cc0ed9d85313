/** An export can't be written or read; the message says why. */
export class ExportError extends Error {}

/** One recording can't be exported; the others can. */
export class UnexportedError extends Error {}
