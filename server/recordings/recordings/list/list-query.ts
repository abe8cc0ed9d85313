import type { DatetimeFilters } from "../../../../contract/common.ts";
import type {
  RecordingFilterInput,
  RecordingIncludeInput,
} from "../../../../contract/recordings/recordings.ts";
import { parseTimestamp } from "../../../../shared/times/timestamp.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { PageQuery, Position } from "../../../platform/http/page.ts";
import type { ThumbnailLinks } from "../json/links.ts";
import { recordingJson } from "../json/recording.ts";
import { comparisons } from "./datetime-filters.ts";
import { hasTrigram } from "./rare-titles.ts";

/** SQL text with its values, and a name when it may be a prepared statement. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

export interface ListOptions extends PageQuery<Position> {
  readonly principal: Principal;
  readonly filter: RecordingFilterInput;
  readonly include: RecordingIncludeInput;
  readonly baseUrl: string;
  readonly thumbnails: ThumbnailLinks;
  readonly datetimeFilters: DatetimeFilters;
  /** The recordings that `title_search` can match, as findRareTitles returns them; null: any. */
  readonly rareTitles: readonly string[] | null;
  /** Also returns the ids of the recordings. */
  readonly withIds?: boolean;
}

/**
 * The statement behind List Recordings: one row with the whole page, since reading fifty rows takes the server longer than
 * PostgreSQL needs to join them.
 *
 * A token's recordings are a few streams in recording_grants, one for each principal (the user, their teams, the
 * workspace's members), each in the order of the list. A page is merged from the first rows of each stream, so its cost
 * depends on the page size alone, not on how many recordings there are or the token can't see.
 */
export function listStatement(options: ListOptions): Statement {
  const { filter, include } = options;
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const { streams, found, json } = listParts(options, bind);
  const size = bind(options.limit - 1);
  const order = "start_datetime desc, recording_id desc";
  const text = `with found as (${found}),
      page as (select start_datetime, recording_id from found order by ${order} limit ${size}),
      last as (select start_datetime, recording_id from page order by start_datetime, recording_id limit 1)
    select last.start_datetime as at, last.recording_id as id, (select count(*) from found) > ${size} as has_more,
      (select string_agg(${json}::text, ',' order by page.start_datetime desc, page.recording_id desc)
        from page join recordings r on r.id = page.recording_id) as json
      ${options.withIds ? ", array(select recording_id from page) as ids" : ""}
    from last`;

  // A list without filters has one good plan, worth keeping. With a filter the best plan depends on the value, so
  // the statement stays unnamed and is planned with it.
  const isPlain = Object.values(filter).every((value) => value === undefined);
  if (!isPlain || !isHot(include)) return { text, values };
  const shape = [streams, options.after === null ? 0 : 1, options.withIds ? 1 : 0, includeBits(include)];
  return { name: `list_recordings_${shape.join("_")}`, text, values };
}

/** What the statement is composed of. */
function listParts(
  options: ListOptions,
  bind: (value: unknown) => string,
): {
  /** How many streams are merged. */
  readonly streams: number;
  /** Selects `start_datetime` and `recording_id` of at most `limit` recordings, the newest first. */
  readonly found: string;
  /** The JSON of a row `r` of recordings. */
  readonly json: string;
} {
  const { principal, filter, include } = options;
  const json = recordingJson(include, {
    bind,
    baseUrl: options.baseUrl,
    thumbnails: options.thumbnails,
    userId: principal.userId,
  });
  const limit = bind(options.limit);
  const conditions = filterConditions(options, bind);
  if (options.after !== null) {
    conditions.push(
      `(g.start_datetime, g.recording_id) < (${bind(options.after.at)}::timestamptz, ${bind(options.after.id)}::uuid)`,
    );
  }
  const streams = streamPrincipals(principal, filter).map(
    (id) => `(select g.start_datetime, g.recording_id
      from recording_grants g
      where ${[`g.principal_id = ${bind(id)}::uuid`, ...conditions].join(" and ")}
      order by g.start_datetime desc, g.recording_id desc
      limit ${limit})`,
  );
  const found = `select distinct start_datetime, recording_id from (${streams.join(" union all ")}) streams
      order by start_datetime desc, recording_id desc
      limit ${limit}`;
  return { streams: streams.length, found, json };
}

/**
 * The streams to merge. With a team filter, the team's own stream is enough for callers who can see all of it.
 */
export function streamPrincipals(
  principal: Principal,
  filter: Pick<RecordingFilterInput, "team">,
): readonly string[] {
  return filter.team !== undefined && seesWholeTeam(principal, filter.team) ? [filter.team] : principal.sees;
}

function seesWholeTeam(principal: Principal, team: string): boolean {
  return principal.scope === "workspace" || principal.sees.includes(team.toLowerCase());
}

/** SQL conditions on a row `g` of recording_grants. */
export function filterConditions(
  options: Pick<ListOptions, "principal" | "datetimeFilters" | "rareTitles"> & {
    /** `favorite`: only favorites of the principal. */
    readonly filter: RecordingFilterInput & { readonly favorite?: boolean | undefined };
  },
  bind: (value: unknown) => string,
): string[] {
  const { principal, filter } = options;
  const conditions: string[] = [];
  for (const name of ["before_datetime", "after_datetime"] as const) {
    const value = filter[name];
    if (value !== undefined)
      conditions.push(
        `g.start_datetime ${comparisons[options.datetimeFilters][name]} ${bind(parseTimestamp(value))}::timestamptz`,
      );
  }
  if (options.rareTitles !== null)
    conditions.push(`g.recording_id = any(${bind(options.rareTitles)}::uuid[])`);
  const ofRecording = recordingConditions(filter, bind);
  if (ofRecording.length > 0)
    conditions.push(
      `exists (select 1 from recordings r where r.id = g.recording_id and ${ofRecording.join(" and ")})`,
    );
  if (filter.team !== undefined) {
    conditions.push(
      seesWholeTeam(principal, filter.team)
        ? `exists (select 1 from teams t where t.id = ${bind(filter.team)}::uuid and t.workspace_id = ${bind(principal.workspaceId)}::uuid)`
        : `exists (select 1 from recording_teams rt where rt.recording_id = g.recording_id and rt.team_id = ${bind(filter.team)}::uuid)`,
    );
  }
  if (filter.attendance === "hosted") {
    conditions.push(
      `exists (select 1 from recording_recorders rr where rr.recording_id = g.recording_id and rr.user_id = ${bind(principal.userId)}::uuid)`,
    );
  }
  if (filter.attendance === "attended") {
    conditions.push(
      `exists (select 1 from participants p where p.recording_id = g.recording_id and p.email_key = ${bind(principal.emailKey)} and p.attended)`,
    );
  }
  if (filter.favorite === true)
    conditions.push(`exists (select 1 from favorite_recordings f
      where f.workspace_id = ${bind(principal.workspaceId)}::uuid and f.user_id = ${bind(principal.userId)}::uuid
        and f.recording_id = g.recording_id)`);
  return conditions;
}

/** SQL conditions on a row `r` of recordings. */
function recordingConditions(
  filter: Pick<RecordingFilterInput, "title_search" | "meeting_type" | "participant_scope">,
  bind: (value: unknown) => string,
): string[] {
  const conditions: string[] = [];
  if (filter.title_search !== undefined) conditions.push(titleCondition(filter.title_search, bind));
  if (filter.meeting_type !== undefined)
    conditions.push(`r.meeting_type_id = ${bind(filter.meeting_type)}::uuid`);
  if (filter.participant_scope !== undefined)
    conditions.push(`r.external = ${bind(filter.participant_scope === "external")}::boolean`);
  return conditions;
}

/**
 * For searches without a trigram a scan of the stream in order is much faster than the trigram index, so the condition is
 * written in a form that the index can't serve.
 */
function titleCondition(search: string, bind: (value: unknown) => string): string {
  return hasTrigram(search)
    ? `r.title_key like parley_contains(${bind(search)})`
    : `strpos(r.title_key, parley_fold(${bind(search)})) > 0`;
}

const includeNames = [
  "highlights",
  "participants",
  "ai_action_items",
  "ai_summary",
  "private_notes",
  "calendar_event",
  "crm",
  "screenshares",
  "ai_template_sections",
  "hubspot",
] as const satisfies readonly (keyof RecordingIncludeInput)[];

/**
 * Whether the statement for this include is prepared. Each prepared statement costs memory on every connection, and
 * there are hundreds of combinations, so only the most common ones are.
 */
export function isHot(include: RecordingIncludeInput): boolean {
  const bits = includeBits(include);
  return bits === 0 || bits === includeBits({ participants: true }) || bits === hotTogether;
}

const hotTogether = includeBits({ highlights: true, participants: true, calendar_event: true });

/** A number that identifies the combination of includes. */
export function includeBits(include: RecordingIncludeInput): number {
  return includeNames.reduce((bits, name, index) => (include[name] ? bits | (1 << index) : bits), 0);
}
