/** A backup or restore can't be done as asked; the message is one line with the remedy. */
export class BackupError extends Error {}

/** A part of a backup is missing or is not what was written; the message names it. */
export class BackupDamagedError extends Error {}
