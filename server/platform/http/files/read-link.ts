import { Uuid } from "../../../../contract/common.ts";
import type { LinkProblem, LinkPurpose, LinkSigner } from "../../crypto/link-signer.ts";
import { ProblemError } from "../errors/problem.ts";

/** Refuses an invalid or expired link. */
export function refuseLink(problem: LinkProblem | null): void {
  if (problem === "invalid")
    throw new ProblemError(
      "link_invalid",
      "the signature of this URL is missing or wrong; use the URL exactly as it was returned",
    );
  if (problem === "expired")
    throw new ProblemError("link_expired", "this URL has expired; request a new one");
}

/**
 * Checks a signed link.
 * @param givenId the id in the URL.
 * @returns the id of a valid link.
 * @throws ProblemError for any other link.
 */
export function readLink(signer: LinkSigner, purpose: LinkPurpose, givenId: unknown, query: unknown): string {
  const id = Uuid.safeParse(givenId).data?.toLowerCase();
  if (id === undefined) throw new ProblemError("not_found", "not found; check the URL");
  refuseLink(signer.check(purpose, id, query, new Date()));
  return id;
}
