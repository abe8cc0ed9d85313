/** The file cannot be judged further because it is not what it should be. The message is a sentence for its sender. */
export class DamagedFileError extends Error {}

/** The file could not be read: nothing is known of it, and the judging has to be tried again. */
export class ReadFailedError extends Error {}
