import { createHash } from "node:crypto";
import type { LinkSigner } from "../links/signer.ts";
import type { AuthorizeRequest } from "./authorize-request.ts";

/** Long enough to think about it. */
const ttlMs = 3_600_000;

/**
 * What shows that a form came from a page this server gave to this session, for this very request: without it another
 * site could answer in the person's name, or exchange the app that was asked about (RFC 9700, section 4.7).
 */
export interface FormTokens {
  /** @param session whose page it is; null for the page on which people sign in. */
  issue(session: string | null, request: AuthorizeRequest): string;
  isRight(session: string | null, request: AuthorizeRequest, token: unknown): boolean;
}

/** Tokens signed by the server's secret, so that nothing has to be stored; they are compared in constant time. */
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
    isRight(session, request, token) {
      const [expires, signature] = typeof token === "string" ? token.split(".") : [];
      return signer.check("form", idOf(session, request), { expires, signature }, new Date()) === null;
    },
  };
}
