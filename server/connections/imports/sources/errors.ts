/** An import can't begin or continue; the message says why, for the user who started it. */
export class ImportError extends Error {}

/** The service no longer accepts the token, so no other recording can be read either. */
export class TokenRefusedError extends ImportError {}

/** One recording can't be imported; the others can. The message is shown in the report. */
export class RecordingError extends Error {}

/** A service or another import has to be waited for, longer than a run may keep its slot. */
export class WaitError extends Error {
  readonly waitMs: number;
  constructor(waitMs: number) {
    super(`has to wait ${Math.ceil(waitMs / 1000)} s`);
    this.waitMs = waitMs;
  }
}
