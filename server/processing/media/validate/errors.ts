/** The file cannot be validated further because its format is wrong. The message is a sentence for its sender. */
export class DamagedFileError extends Error {}

/** The file could not be read: nothing is known about it, and validation must be retried. */
export class ReadFailedError extends Error {}
