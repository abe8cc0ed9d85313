import type { FastifyRequest } from "fastify";
import type { Principal } from "../../auth/principal.ts";
import type { Queryable } from "../../db/replica.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Not null: `principal` is the caller of an earlier request with this token, which is still to be checked. */
    tokenCheck: TokenCheck | null;
  }
}

/** The check of a token whose caller is known from an earlier request. */
export interface TokenCheck {
  /**
   * The database. The check is sent with the first statement; results are returned only if the caller is still the same,
   * otherwise they are errors, which `withCheckedCaller` replaces.
   */
  readonly source: Queryable;
  /**
   * Reads one value in the statement of the check, which costs less than two statements for what is read in microseconds.
   * Only before anything else is read.
   * @param name for the prepared statement.
   * @param sql of the value, with `token.sees` for the ids under which the caller sees recordings, and $2 for `argument`.
   */
  readValue(name: string, sql: string, argument: string): Promise<unknown>;
  /** Whether the token has been checked and the caller is still the same. */
  isConfirmed(): boolean;
  /**
   * Checks the token unless that was done with a statement.
   * @returns the current caller, the same object if nothing has changed.
   * @throws ProblemError `token_invalid`.
   */
  confirm(): Promise<Principal>;
}

/**
 * Runs what handles a request, again if the caller is no longer as in the earlier request, for example in another team.
 * Neither its result nor its error counts before the token is checked.
 * @throws ProblemError `token_invalid`.
 */
export async function withCheckedCaller<T>(request: FastifyRequest, handle: () => Promise<T>): Promise<T> {
  const { tokenCheck, principal } = request;
  if (tokenCheck === null) return handle();
  const [outcome] = await Promise.allSettled([handle()]);
  request.principal = await tokenCheck.confirm();
  request.tokenCheck = null;
  if (request.principal !== principal) return handle();
  if (outcome.status === "rejected") throw outcome.reason;
  return outcome.value;
}
