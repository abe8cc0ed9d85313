import type { TokenResponse } from "../../../../contract/oauth.ts";
import type { Origin } from "../../../accounts/tokens/oauth-grants.ts";
import type { ClientRow } from "../../clients/queries.ts";

/** The result of a grant. A refusal is a value, not an exception, so that what it revokes is committed. */
export type GrantResult =
  | { readonly ok: true; readonly response: TokenResponse }
  | {
      readonly ok: false;
      /** For the client; the same text for all reasons that could help guessing. */
      readonly reason: string;
      /** Whether it counts as a guess. */
      readonly isGuess: boolean;
    };

/** A token request of an authenticated client. */
export interface GrantRequest {
  readonly client: ClientRow;
  readonly origin: Origin;
  /**
   * Whether the client has disconnected. Checked when the grant's lock is held: the client would not get the response, and
   * its retry may have been served in the meantime, so that this request would look like a theft.
   */
  readonly isGone: () => boolean;
}

/** A refusal that changed nothing. */
export function refused(reason: string, isGuess: boolean): GrantResult {
  return { ok: false, reason, isGuess };
}
