import { sql } from "kysely";
import { because } from "../../../../contract/causes/causes.ts";
import type { LinkSigner } from "../../../platform/crypto/link-signer.ts";
import type { Executor } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { isActive, type LinkRow, linkColumns } from "../../../recordings/public-link-records/queries.ts";
import { isAccess, readToken } from "../../../recordings/public-link-records/token.ts";

interface Dependencies {
  readonly db: Executor;
  readonly signer: LinkSigner;
}

/** The result of looking up a token, before any password check. */
export type Found =
  | { readonly state: "active"; readonly link: LinkRow }
  | { readonly state: "expired" }
  /** It never existed, was revoked or is forged; callers are not told which. */
  | { readonly state: "none" };

export async function findByToken({ db, signer }: Dependencies, token: string): Promise<Found> {
  const id = readToken(signer, token);
  if (id === null) return { state: "none" };
  const { rows } = await sql<LinkRow & { is_active: boolean }>`
    select ${sql.raw(linkColumns)}, ${sql.raw(isActive)} as is_active from public_links l where l.id = ${id}`.execute(
    db,
  );
  const [row] = rows;
  if (row === undefined) return { state: "none" };
  return row.is_active ? { state: "active", link: row } : { state: "expired" };
}

/** For each link, whether it was neither revoked nor has expired. */
export async function areActive(db: Executor, linkIds: readonly string[]): Promise<boolean[]> {
  const { rows } = await sql<{ id: string }>`
    select l.id from public_links l
    where l.id = any(${linkIds}::uuid[]) and ${sql.raw(isActive)}`.execute(db);
  const active = new Set(rows.map(({ id }) => id));
  return linkIds.map((id) => active.has(id));
}

/** The same error for every URL that is not an active link, so that it reveals nothing about revoked ones. */
export function linkNotFound(): ProblemError {
  return new ProblemError("not_found", because("public_link_missing"));
}

/** @throws ProblemError `not_found`, `link_expired`. */
export async function findActive(deps: Dependencies, token: string): Promise<LinkRow> {
  const found = await findByToken(deps, token);
  if (found.state === "none") throw linkNotFound();
  if (found.state === "expired") throw new ProblemError("link_expired", because("public_link_expired"));
  return found.link;
}

/**
 * Finds the active link of a token.
 * @param access the access value from unlocking; for links with a password.
 * @throws ProblemError `not_found`, `link_expired`, `password_required`.
 */
export async function openLink(
  deps: Dependencies,
  token: string,
  access: string | undefined,
): Promise<LinkRow> {
  const link = await findActive(deps, token);
  if (link.password_hash !== null && !isAccess(deps.signer, link, access, new Date()))
    throw new ProblemError("password_required", because("public_link_locked"));
  return link;
}
