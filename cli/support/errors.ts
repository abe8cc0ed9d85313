/** The audit log is damaged, or the request names no workspace; the message says which. */
export class AuditBrokenError extends Error {}

/** The command needs confirmation; the message says of what. */
export class NotConfirmedError extends Error {}

/** The command does not say what it is about; the message says how. */
export class AmbiguousError extends Error {}
