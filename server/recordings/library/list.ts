import type { RecordingFilterInput } from "../../../contract/recordings/recordings.ts";
import { parseTimestamp } from "../../../shared/times/timestamp.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Queryable } from "../../platform/db/replica.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import type { CursorFormat, PageQuery } from "../../platform/http/page.ts";
import type { ThumbnailLinks } from "../recordings/json/links.ts";
import { recordingJson } from "../recordings/json/recording.ts";
import { filterConditions, streamPrincipals } from "../recordings/list/list-query.ts";
import { isRecorder, rightInSql, rights } from "../recordings/rights.ts";

export type LibrarySort = "newest" | "oldest" | "title";

interface LibraryFilter extends Omit<RecordingFilterInput, "before_datetime" | "after_datetime"> {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly favorite?: boolean | undefined;
}

/** Where a page ended: the value that it is sorted by, and the id. */
export interface LibraryPosition {
  /** An ISO time, or a title's key. */
  readonly key: string;
  readonly id: string;
}

/** Titles are sorted by their first characters, which also bounds the cursor. */
const titleKey = "left(t.title_key, 80)";

const orders = {
  newest: { key: "g.start_datetime", type: "timestamptz", direction: "desc", after: "<" },
  oldest: { key: "g.start_datetime", type: "timestamptz", direction: "asc", after: ">" },
  title: { key: titleKey, type: "text", direction: "asc", after: ">" },
} as const;

export interface LibraryOptions extends PageQuery<LibraryPosition> {
  readonly principal: Principal;
  readonly filter: LibraryFilter;
  /** As List Recordings takes them. */
  readonly rareTitles: readonly string[] | null;
  readonly sort: LibrarySort;
  readonly baseUrl: string;
  readonly thumbnails: ThumbnailLinks;
}

export interface LibraryRow {
  readonly key: string;
  readonly id: string;
  /** A LibraryItem as JSON. */
  readonly json: string;
}

/** A page of the recordings that the principal can see, merged from the streams of their grants as List Recordings is. */
export async function listLibrary(source: Queryable, options: LibraryOptions): Promise<LibraryRow[]> {
  const { principal, after, sort } = options;
  const { key, type, direction, after: beyond } = orders[sort];
  const { values, bind, conditions } = conditionsOf(options);
  const limit = bind(options.limit);
  if (after !== null)
    conditions.push(
      `(${key}, g.recording_id) ${beyond} (${bind(after.key)}::${type}, ${bind(after.id)}::uuid)`,
    );
  const titles = sort === "title" ? "join recordings t on t.id = g.recording_id" : "";
  const streams = streamPrincipals(principal, options.filter).map(
    (id) => `(select ${key} as key, g.recording_id from recording_grants g ${titles}
      where ${[`g.principal_id = ${bind(id)}::uuid`, ...conditions].join(" and ")}
      order by ${key} ${direction}, g.recording_id ${direction} limit ${limit})`,
  );
  const json = recordingJson(
    { participants: true },
    { bind, baseUrl: options.baseUrl, thumbnails: options.thumbnails, userId: principal.userId },
  );
  const user = bind(principal.userId);
  const byRecorder = { bind, isRecorder: isRecorder({ recording: "r.id", user }) };
  const mayAll = rights.map((right) => rightInSql(principal, right, byRecorder));
  const order = `key ${direction}, recording_id ${direction}`;
  const { rows } = await source.query<LibraryRow>({
    text: `with page as (
        select distinct key, recording_id from (${streams.join(" union all ")}) streams order by ${order} limit ${limit})
      select ${type === "text" ? "page.key" : "parley_timestamp(page.key)"} as key, page.recording_id as id,
        '{"recording":' || ${json}::text
        || ',"is_favorite":' || exists (select 1 from favorite_recordings f where f.workspace_id = r.workspace_id
          and f.user_id = ${user}::uuid and f.recording_id = r.id)
        || ',"can_change":' || (${mayAll.join(" and ")})
        || '}' as json
      from page join recordings r on r.id = page.recording_id
      order by page.key ${direction}, page.recording_id ${direction}`,
    values,
  });
  return rows;
}

/** How many recordings match the filter, counted up to a maximum. */
export async function countLibrary(
  source: Queryable,
  options: Pick<LibraryOptions, "principal" | "filter" | "rareTitles">,
  max: number,
): Promise<number> {
  const { values, bind, conditions } = conditionsOf(options);
  const limit = bind(max);
  const streams = streamPrincipals(options.principal, options.filter).map(
    (id) => `(select g.recording_id from recording_grants g
      where ${[`g.principal_id = ${bind(id)}::uuid`, ...conditions].join(" and ")} limit ${limit})`,
  );
  const { rows } = await source.query<{ count: number }>({
    text: `select least(count(distinct recording_id), ${limit})::integer as count
      from (${streams.join(" union all ")}) streams`,
    values,
  });
  return rows[0]?.count ?? 0;
}

function conditionsOf({
  principal,
  filter,
  rareTitles,
}: Pick<LibraryOptions, "principal" | "filter" | "rareTitles">) {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const { from, to, ...rest } = filter;
  const conditions = filterConditions(
    { principal, filter: rest, datetimeFilters: "by-name", rareTitles },
    bind,
  );
  if (from !== undefined) conditions.push(`g.start_datetime >= ${bind(parseTimestamp(from))}::timestamptz`);
  if (to !== undefined) conditions.push(`g.start_datetime < ${bind(parseTimestamp(to))}::timestamptz`);
  return { values, bind, conditions };
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Cursors of the library in one order. */
export function libraryCursor(sort: LibrarySort): CursorFormat<LibraryPosition> {
  return {
    encode: ({ key, id }) => Buffer.from(JSON.stringify([sort, key, id])).toString("base64url"),
    decode(cursor) {
      const [order, key, id] = parse(cursor);
      const isKey = typeof key === "string" && (sort === "title" ? isText(key) : time.test(key));
      if (order !== sort || !isKey || typeof id !== "string" || !uuid.test(id))
        throw new ProblemError(
          "invalid_cursor",
          "the cursor is not from this list; send the cursor from the previous response unchanged, or leave it out",
        );
      return { key, id };
    },
  };
}

function isText(key: string): boolean {
  return key.length <= 200 && !key.includes("\0") && key.isWellFormed();
}

function parse(cursor: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
