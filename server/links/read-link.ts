import { Uuid } from "../../contract/common.ts";
import { ProblemError } from "../http/problem.ts";
import type { LinkFault, LinkPurpose, LinkSigner } from "./signer.ts";

/** Refuses a link that is not or no longer good. */
export function refuseLink(fault: LinkFault | null): void {
  if (fault === "invalid")
    throw new ProblemError(
      "link_invalid",
      "the signature of this address is missing or wrong; use it exactly as it was given",
    );
  if (fault === "expired")
    throw new ProblemError("link_expired", "this address has expired; ask for a new one");
}

/**
 * Reads whose link it is.
 * @param givenId as it stands in the address.
 * @returns the id that a good link names.
 * @throws ProblemError for any other link.
 */
export function readLink(signer: LinkSigner, purpose: LinkPurpose, givenId: unknown, query: unknown): string {
  const id = Uuid.safeParse(givenId).data?.toLowerCase();
  if (id === undefined) throw new ProblemError("not_found", "nothing is here");
  refuseLink(signer.check(purpose, id, query, new Date()));
  return id;
}
