/**
 * The file is at fault: trying again gives the same end. The message is one or two sentences for people, without paths
 * or stack; `detail` is for the log.
 */
export class MediaFailedError extends Error {
  readonly detail: string;

  constructor(reason: string, detail = "") {
    super(reason);
    this.name = "MediaFailedError";
    this.detail = detail;
  }
}

/** The machine is at fault (no space left, no permission): the same file may work later. */
export class MachineError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "MachineError";
  }
}

/** For whatever a broken file makes the libraries do. */
export const damagedReason =
  "The file is damaged in a way that keeps it from being processed. Please export it again and upload it once more.";
