import type { TokenResponse } from "../../../../../contract/accounts/oauth.ts";
import type { Resource } from "../../../../platform/auth/audience.ts";
import type { Origin } from "../../../accounts/tokens/oauth-grants.ts";
import type { ClientRow } from "../../clients/queries.ts";

/** The result of a grant. A refusal is a value, not an exception, so that what it revokes is committed. */
export type GrantResult =
  | { readonly ok: true; readonly response: TokenResponse }
  | {
      readonly ok: false;
      /** For the client; the same text for all reasons that could help guessing. */
      readonly reason: string;
      /** `invalid_grant` unless stated. */
      readonly code?: "invalid_target";
      /** Whether it counts as a guess. */
      readonly isGuess: boolean;
    };

/** A token request of an authenticated client. */
export interface GrantRequest {
  readonly client: ClientRow;
  readonly origin: Origin;
  /** The resource in the request; undefined: none, null: the whole server. */
  readonly resource: Resource | null | undefined;
  /**
   * Whether the client has disconnected. Checked when the grant's lock is held: the client would not get the response, and
   * its retry may have been served in the meantime, so that this request would look like a theft.
   */
  readonly isGone: () => boolean;
}

/**
 * The resource that the access token is restricted to: the one that the user approved, or, if that was the whole server, the
 * one that the request asks for. @returns a refusal when it asks for more (RFC 8707, section 2.2).
 */
export function resourceFor(
  { resource: asked }: Pick<GrantRequest, "resource">,
  approved: Resource | null,
): { readonly resource: Resource | null } | GrantResult {
  if (asked === undefined || asked === approved) return { resource: approved };
  if (approved === null) return { resource: asked };
  return {
    ok: false,
    code: "invalid_target",
    reason: "the resource differs from the one in the authorization request",
    isGuess: false,
  };
}

/** A refusal that changed nothing. */
export function refused(reason: string, isGuess: boolean): GrantResult {
  return { ok: false, reason, isGuess };
}
