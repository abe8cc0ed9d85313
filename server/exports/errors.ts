/** An export can't be written or read; the message says why. */
export class ExportError extends Error {}
