/** A move can't begin or continue; the message is one line with the remedy. */
export class MoveError extends Error {}

/** The database was moved, or a move to it is not complete; the message is one line with the remedy. */
export class MovedError extends Error {}
