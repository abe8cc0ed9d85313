import type { Cause } from "../../../../contract/causes/causes.ts";
import { fileCause } from "../../../../contract/causes/files.ts";

/** The file cannot be validated further because its format is wrong. The message is a sentence for its sender. */
export class DamagedFileError extends Error {
  override readonly cause: Cause;

  constructor(message: string, cause: Cause = fileCause("file_damaged", {})) {
    super(message);
    this.cause = cause;
  }
}

/** The file could not be read: nothing is known about it, and validation must be retried. */
export class ReadFailedError extends Error {}
