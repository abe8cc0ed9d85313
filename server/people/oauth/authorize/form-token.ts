import { createHash } from "node:crypto";
import type { LinkSigner } from "../../../platform/crypto/link-signer.ts";
import type { AuthorizeRequest } from "./request.ts";

/** Long enough for a user to decide. */
const ttlMs = 3_600_000;

/**
 * CSRF tokens of the authorization page, bound to the session and the authorization request. Without them another site
 * could consent for the user, or swap the app they are asked about (RFC 9700, section 4.7).
 */
export interface FormTokens {
  /** @param session the session the page was sent to; null for the sign-in page. */
  issue(session: string | null, request: AuthorizeRequest): string;
  isValid(session: string | null, request: AuthorizeRequest, token: unknown): boolean;
}

/** Tokens signed with the server's secret, so nothing is stored; compared in constant time. */
export function createFormTokens(signer: LinkSigner): FormTokens {
  const idOf = (session: string | null, { parameters }: AuthorizeRequest): string =>
    createHash("sha256")
      .update(JSON.stringify([session, Object.entries(parameters).sort()]))
      .digest("base64url");
  return {
    issue(session, request) {
      const query = new URLSearchParams(
        signer.query("form", idOf(session, request), new Date(Date.now() + ttlMs)),
      );
      return `${query.get("expires")}.${query.get("signature")}`;
    },
    isValid(session, request, token) {
      const [expires, signature] = typeof token === "string" ? token.split(".") : [];
      return signer.check("form", idOf(session, request), { expires, signature }, new Date()) === null;
    },
  };
}
