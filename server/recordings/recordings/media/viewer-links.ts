import type pg from "pg";
import { Uuid } from "../../../../contract/common.ts";
import { type View, viewersSee } from "../../../people/access/viewer.ts";
import { type LinkPurpose, type LinkSigner, linkMessage } from "../../../platform/crypto/link-signer.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { refuseLink } from "../../../platform/http/files/read-link.ts";

/** How long a browser may use its copy of a file without asking again, in seconds. */
export const maxAgeSec = 60;

/**
 * The query of a file URL: its viewer, its expiry and the signature over both.
 * @param id the id of the served file, as in the route.
 */
export function fileQuery(
  signer: LinkSigner,
  purpose: LinkPurpose,
  id: string,
  viewerId: string,
  expiresAt: Date,
): string {
  return `viewer=${viewerId}&${signer.query(purpose, signedId(id, viewerId), expiresAt)}`;
}

/** @returns the viewer of a file URL. @throws ProblemError `link_invalid`, `link_expired`. */
export function readFileQuery(signer: LinkSigner, purpose: LinkPurpose, id: string, query: unknown): string {
  const viewerId = viewerIn(query);
  refuseLink(signer.check(purpose, signedId(id, viewerId), query, new Date()));
  return viewerId;
}

/** The query of a thumbnail URL, which does not expire because clients store it. SQL builds the same (json/sql.ts). */
export function thumbnailQuery(signer: LinkSigner, id: string, viewerId: string): string {
  return `viewer=${viewerId}&signature=${signer.tag("thumbnail", linkMessage(id, viewerId)).toString("hex")}`;
}

/** @returns the viewer of a thumbnail's URL. @throws ProblemError `link_invalid`. */
export function readThumbnailQuery(signer: LinkSigner, id: string, query: unknown): string {
  const viewerId = viewerIn(query);
  const { signature } = query as { signature?: unknown };
  const given = typeof signature === "string" && /^[0-9a-f]{64}$/.test(signature) ? signature : "";
  if (!signer.isTag("thumbnail", linkMessage(id, viewerId), Buffer.from(given, "hex"))) refuseLink("invalid");
  return viewerId;
}

/**
 * Refuses a file when the viewer of its URL can no longer see the recording, or not from this IP address.
 * @throws ProblemError `not_found`, also where the recording is deleted.
 */
export async function checkViewer(pool: pg.Pool, view: View): Promise<void> {
  const [sees] = await viewersSee(pool, [view]);
  if (!sees)
    throw new ProblemError(
      "not_found",
      "the file is no longer available; its recording was deleted, is no longer shared with the user this URL was created for, or their workspace does not allow this IP address",
    );
}

function signedId(id: string, viewerId: string): string {
  return `${id} ${viewerId}`;
}

function viewerIn(query: unknown): string {
  const viewerId = Uuid.safeParse((query as { viewer?: unknown } | null)?.viewer).data?.toLowerCase();
  if (viewerId === undefined) refuseLink("invalid");
  return viewerId ?? "";
}
