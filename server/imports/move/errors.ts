/** An import can't begin or continue; the message says why, for the user who started it. */
export class ImportError extends Error {}

/** The service no longer accepts the token, so no other recording can be read either. */
export class TokenRefusedError extends ImportError {}

/** One recording can't be imported; the others can. The message is shown in the report. */
export class RecordingError extends Error {}
