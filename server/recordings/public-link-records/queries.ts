import { sql } from "kysely";
import type { z } from "zod";
import type { PublicLink, PublicLinkKind } from "../../../contract/sharing/public-links.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { LinkSigner } from "../../platform/crypto/link-signer.ts";
import type { Executor, Tx } from "../../platform/db/database.ts";
import { isShown, shownClips } from "./clips.ts";
import { tokenOf } from "./token.ts";

/** The recording, highlight or story that a link shows. */
export interface Subject {
  readonly kind: z.output<typeof PublicLinkKind>;
  readonly id: string;
}

const column = { recording: "recording_id", highlight: "highlight_id", story: "story_id" } as const;

/** A link with the columns that decide what it shows. */
export interface LinkRow {
  readonly id: string;
  readonly workspace_id: string;
  readonly kind: Subject["kind"];
  /** The id of the recording, highlight or story. */
  readonly subject_id: string;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly password_hash: string | null;
  readonly allow_download: boolean;
  readonly include_summary: boolean;
  readonly start_ms: number | null;
  readonly last_opened_at: Date | null;
}

export const linkColumns = `l.id, l.workspace_id, l.kind, coalesce(l.recording_id, l.highlight_id, l.story_id) as subject_id,
  l.created_at, l.expires_at, l.password_hash, l.allow_download, l.include_summary, l.start_ms, l.last_opened_at`;

/** Whether the link has not expired. */
export const isActive = "(l.expires_at is null or l.expires_at > now())";

interface ListedRow extends LinkRow {
  readonly created_by: { readonly id: string; readonly name: string; readonly email: string } | null;
  readonly left_out: number;
}

/** Links in the form the API returns, oldest first. @param by a subject, or a link. */
export async function findLinks(
  db: Executor | Tx,
  signer: LinkSigner,
  baseUrl: string,
  by: { readonly subject: Subject } | { readonly linkId: string },
): Promise<z.input<typeof PublicLink>[]> {
  const condition =
    "linkId" in by
      ? sql`l.id = ${by.linkId}`
      : sql`${sql.ref(`l.${column[by.subject.kind]}`)} = ${by.subject.id}`;
  const { rows } = await sql<ListedRow>`
    select ${sql.raw(linkColumns)},
      (select json_build_object('id', u.id, 'name', u.name, 'email', u.email) from users u where u.id = l.created_by)
        as created_by,
      case l.kind when 'recording' then 0 when 'highlight' then 1
        else (select count(*) from story_highlights x where x.story_id = l.story_id) end::integer
        - coalesce(s.shown, 0)::integer as left_out
    from public_links l
    left join (select l.id, count(*) as shown from ${sql.raw(shownClips)} where ${sql.raw(isShown)} and ${condition}
      group by l.id) s on s.id = l.id
    where ${condition}
    order by l.created_at, l.id`.execute(db);
  return rows.map((row) => {
    const token = tokenOf(signer, row.id);
    return {
      id: row.id,
      kind: row.kind,
      url: `${baseUrl}/s/${token}`,
      embed_url: `${baseUrl}/embed/${token}`,
      created_datetime: row.created_at.toISOString(),
      created_by: row.created_by,
      expires_datetime: row.expires_at?.toISOString() ?? null,
      has_password: row.password_hash !== null,
      allow_download: row.allow_download,
      include_summary: row.include_summary,
      start: row.start_ms,
      last_opened_datetime: row.last_opened_at?.toISOString() ?? null,
      left_out: row.left_out,
    };
  });
}

export async function countLinks(tx: Tx, { kind, id }: Subject): Promise<number> {
  const { rows } = await sql<{ links: number }>`
    select count(*)::integer as links from public_links where ${sql.ref(column[kind])} = ${id}`.execute(tx);
  return rows[0]?.links ?? 0;
}

/** A link by its id, without a permission check. */
export async function findLink(db: Executor | Tx, linkId: string): Promise<LinkRow | undefined> {
  const { rows } = await sql<LinkRow>`
    select ${sql.raw(linkColumns)} from public_links l where l.id = ${linkId}`.execute(db);
  return rows[0];
}

/** Locks a link; the caller has locked its subject. */
export async function lockLink(tx: Tx, linkId: string): Promise<LinkRow | undefined> {
  const { rows } = await sql<LinkRow>`
    select ${sql.raw(linkColumns)} from public_links l where l.id = ${linkId} for update`.execute(tx);
  return rows[0];
}

/** The settings of a link that can be changed. */
export interface LinkValues {
  readonly expires_at: Date | null;
  readonly password_hash: string | null;
  readonly allow_download: boolean;
  readonly include_summary: boolean;
  readonly start_ms: number | null;
}

export const plainLink: LinkValues = {
  expires_at: null,
  password_hash: null,
  allow_download: false,
  include_summary: false,
  start_ms: null,
};

/** @returns the id. */
export async function insertLink(
  tx: Tx,
  subject: Subject,
  owner: { readonly workspaceId: string; readonly createdBy: string | null },
  values: LinkValues = plainLink,
): Promise<string> {
  const row = await tx
    .insertInto("public_links")
    .values({
      workspace_id: owner.workspaceId,
      kind: subject.kind,
      [column[subject.kind]]: subject.id,
      created_by: owner.createdBy,
      ...values,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

export async function updateLink(tx: Tx, linkId: string, values: LinkValues): Promise<void> {
  await tx.updateTable("public_links").set(values).where("id", "=", linkId).execute();
}

export async function deleteLink(tx: Tx, linkId: string): Promise<void> {
  await tx.deleteFrom("public_links").where("id", "=", linkId).execute();
}

/** Deletes all links of a recording, highlight or story. @returns their ids. */
export async function deleteLinks(tx: Tx, { kind, id }: Subject): Promise<string[]> {
  const rows = await tx.deleteFrom("public_links").where(column[kind], "=", id).returning("id").execute();
  return rows.map((row) => row.id);
}

/** Ids of a story's links, oldest first, and whether each is active. */
export async function findStoryLinks(
  tx: Tx,
  storyId: string,
): Promise<{ readonly id: string; readonly is_active: boolean }[]> {
  const { rows } = await sql<{ id: string; is_active: boolean }>`
    select l.id, ${sql.raw(isActive)} as is_active from public_links l
    where l.story_id = ${storyId} order by l.created_at, l.id`.execute(tx);
  return rows;
}

/** The oldest active link of a recording. */
export async function findFirstLink(db: Executor, recordingId: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select l.id from public_links l where l.recording_id = ${recordingId} and ${sql.raw(isActive)}
    order by l.created_at, l.id limit 1`.execute(db);
  return rows[0]?.id;
}

/** Saves when a link was last opened, rounded to the hour so that it is written at most once an hour. */
export async function noteOpened(db: Executor, linkId: string): Promise<void> {
  await sql`
    update public_links set last_opened_at = date_trunc('hour', now())
    where id = ${linkId} and (last_opened_at is null or last_opened_at < date_trunc('hour', now()))`.execute(
    db,
  );
}

/** The user to save as creator; null for a workspace token, which acts for the workspace. */
export function creatorOf(principal: Principal): string | null {
  return principal.scope === "workspace" ? null : principal.userId;
}
