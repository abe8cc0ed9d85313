import type { Cause } from "../../../../contract/causes/causes.ts";
import { fileCause } from "../../../../contract/causes/files.ts";

/**
 * The file is the cause, so a retry fails the same way. The message is one or two sentences for users, without paths or
 * stack; `detail` is for the log.
 */
export class MediaFailedError extends Error {
  readonly detail: string;
  override readonly cause: Cause;

  constructor(reason: string, detail = "", cause: Cause = fileCause("file_damaged", {})) {
    super(reason);
    this.name = "MediaFailedError";
    this.detail = detail;
    this.cause = cause;
  }
}

/** The machine is the cause (no space left, no permission): the same file may work later. */
export class MachineError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "MachineError";
  }
}

/**
 * The process was killed from outside while it worked, as the system does when memory runs out. Once says little:
 * another program may have taken the memory.
 */
export class MediaKilledError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "MediaKilledError";
  }
}

/** Whether the machine is the cause of a failure: the operating system refused something. */
export function isMachineFailure(error: unknown): boolean {
  return error instanceof MachineError || (error instanceof Error && "errno" in error && "syscall" in error);
}

/** A failure in words for the log. */
export function detailOf(error: unknown): string {
  if (error instanceof MediaFailedError) return `${error.message} ${error.detail}`.trim();
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** For any failure that a broken file causes in the libraries. */
export const damagedReason =
  "The file is damaged in a way that keeps it from being processed. Please export it again and upload it once more.";

/** What a sender can do about a file that can't be decoded. */
export const decodeRemedy =
  "The file is damaged: export or convert the recording again, check that it plays, and upload the new file.";
