import { sql } from "kysely";
import type { Executor } from "../db/database.ts";
import { ProblemError } from "../http/problem.ts";
import type { LinkSigner } from "../links/signer.ts";
import { isGood, type LinkRow, linkColumns } from "./queries.ts";
import { isAccess, readToken } from "./token.ts";

interface Dependencies {
  readonly db: Executor;
  readonly signer: LinkSigner;
}

/** What a token leads to, before its password is asked for. */
export type Found =
  | { readonly state: "good"; readonly link: LinkRow }
  | { readonly state: "expired" }
  /** Never was, was taken back, or is forged: nobody is told which. */
  | { readonly state: "none" };

export async function findByToken({ db, signer }: Dependencies, token: string): Promise<Found> {
  const id = readToken(signer, token);
  if (id === null) return { state: "none" };
  const { rows } = await sql<LinkRow & { is_good: boolean }>`
    select ${sql.raw(linkColumns)}, ${sql.raw(isGood)} as is_good from public_links l where l.id = ${id}`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) return { state: "none" };
  return row.is_good ? { state: "good", link: row } : { state: "expired" };
}

/** The same for every address that is none of a good link: nothing tells what there was. */
export function nothingHere(): ProblemError {
  return new ProblemError(
    "not_found",
    "nothing is at this address; it was mistyped, or whoever shared it has taken it back",
  );
}

/** @throws ProblemError `not_found`, `link_expired`. */
export async function findGood(deps: Dependencies, token: string): Promise<LinkRow> {
  const found = await findByToken(deps, token);
  if (found.state === "none") throw nothingHere();
  if (found.state === "expired")
    throw new ProblemError("link_expired", "this link has expired; ask whoever sent it for a new one");
  return found.link;
}

/**
 * The link of a token, opened.
 * @param access what unlocking gave; for links with a password.
 * @throws ProblemError `not_found`, `link_expired`, `password_required`.
 */
export async function openLink(
  deps: Dependencies,
  token: string,
  access: string | undefined,
): Promise<LinkRow> {
  const link = await findGood(deps, token);
  if (link.password_hash !== null && !isAccess(deps.signer, link, access, new Date()))
    throw new ProblemError("password_required", "give the password of this link first");
  return link;
}
