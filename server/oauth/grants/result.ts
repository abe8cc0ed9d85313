import type { TokenAnswer } from "../../../contract/oauth.ts";
import type { ClientRow } from "../client-queries.ts";
import type { Origin } from "../families.ts";

/**
 * What a grant came to. A refusal is a value, not an exception: what it revokes must be committed along with it.
 */
export type GrantResult =
  | { readonly ok: true; readonly answer: TokenAnswer }
  | {
      readonly ok: false;
      /** For the client; the same words for whatever could help somebody who guesses. */
      readonly reason: string;
      /** Counts as a guess. */
      readonly isGuess: boolean;
    };

/** A token request whose client is known. */
export interface GrantRequest {
  readonly client: ClientRow;
  readonly origin: Origin;
  /**
   * Whether who asked has hung up. Asked once it is this request's turn: nobody would get the answer, and the request
   * that the client made instead may have been served meanwhile, so that this one would look like a theft.
   */
  readonly isGone: () => boolean;
}

/** A refusal that changed nothing. */
export function refused(reason: string, isGuess: boolean): GrantResult {
  return { ok: false, reason, isGuess };
}
