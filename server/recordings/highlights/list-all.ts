import type pg from "pg";
import type { HighlightIncludeInput } from "../../../contract/recordings/highlights.ts";
import { refusal } from "../../platform/auth/permissions.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { PageQuery, Position } from "../../platform/http/page.ts";
import { hasRight, isRecorder } from "../recordings/rights.ts";
import { findHighlightJson, type HighlightLinks, overlapsHighlight } from "./queries.ts";

/** A highlight's position in the list of all highlights. */
export interface PlacedHighlight extends Position {
  /** Length of what is said in it; zero where nobody asked. */
  readonly transcript_length: number;
}

/**
 * A page of positions of the highlights that a principal can see, newest first. Scans the index `highlights_by_workspace`, so
 * a page costs its own rows plus the rows in between that the principal can't see.
 */
export async function listAllHighlightIds(
  pool: pg.Pool,
  principal: Pick<Principal, "workspaceId" | "sees">,
  page: PageQuery<Position> & {
    readonly text: string | undefined;
    readonly tag: string | undefined;
    readonly withLength: boolean;
  },
): Promise<PlacedHighlight[]> {
  const length = `(select coalesce(sum(length(s.text) + length(s.speaker)), 0)::integer
    from transcript_segments s where ${overlapsHighlight})`;
  const { rows } = await pool.query<PlacedHighlight>(
    `select h.id, h.created_at as at, ${page.withLength ? length : "0"} as transcript_length
     from highlights h
     where h.workspace_id = $7
       and exists (select 1 from recording_grants g
         where g.recording_id = h.recording_id and g.principal_id = any($1::uuid[]))
       and ($2::text is null or strpos(parley_fold(h.text), parley_fold($2)) > 0)
       and ($3::text is null or normalize($3::text, NFC) = any(h.tags))
       and (h.created_at, h.id) < (coalesce($4::timestamptz, 'infinity'),
         coalesce($5::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
     order by h.created_at desc, h.id desc limit $6`,
    [
      principal.sees,
      page.text || null,
      page.tag ?? null,
      page.after?.at ?? null,
      page.after?.id ?? null,
      page.limit,
      principal.workspaceId,
    ],
  );
  return rows;
}

/** Highlights in the form the list returns, in the order of the ids; deleted ones are omitted. */
export async function findListedJson(
  pool: pg.Pool,
  principal: Principal,
  ids: readonly string[],
  include: HighlightIncludeInput,
  links: HighlightLinks,
): Promise<string[]> {
  const found = await findHighlightJson(pool, ids, include, links);
  const { rows } = await pool.query<{
    id: string;
    recording: unknown;
    is_maker: boolean;
    is_recorder: boolean;
  }>(
    `select h.id, coalesce(h.created_by = $2::uuid, false) as is_maker,
       json_build_object('title', r.title, 'media_type', r.media_type,
         'start_datetime', parley_timestamp(r.start_datetime), 'duration_ms', r.duration_ms) as recording,
       ${isRecorder({ recording: "r.id", user: "$2" })} as is_recorder
     from highlights h join recordings r on r.id = h.recording_id
     where h.id = any($1::uuid[])`,
    [ids, principal.userId],
  );
  const mayWrite = refusal("write", principal) === null;
  const around = new Map(
    rows.map(({ id, recording, is_maker, is_recorder }) => [
      id,
      { recording, can_change: mayWrite && (is_maker || hasRight(principal, "change", { is_recorder })) },
    ]),
  );
  return ids.flatMap((id) => {
    const [json, more] = [found.get(id), around.get(id)];
    // The highlight was deleted in the meantime.
    if (json === undefined || more === undefined) return [];
    return `${json.slice(0, -1)},${JSON.stringify(more).slice(1)}`;
  });
}
