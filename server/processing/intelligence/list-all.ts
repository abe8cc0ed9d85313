import type { z } from "zod";
import { Uuid } from "../../../contract/common.ts";
import { type ListedActionItem, listAllActionItems } from "../../../contract/recordings/intelligence.ts";
import { parseTimestamp } from "../../../shared/times/timestamp.ts";
import { refusal } from "../../platform/auth/permissions.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import type { Queryable } from "../../platform/db/replica.ts";
import { invalidInput } from "../../platform/http/errors/problem.ts";
import {
  type PageQuery,
  type Position,
  readPage,
  takeUpToTotal,
  timeCursor,
} from "../../platform/http/page.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";
import { filterConditions, streamPrincipals } from "../../recordings/recordings/list/list-query.ts";
import { isRecorder, rightInSql } from "../../recordings/recordings/rights.ts";

type Filter = Omit<z.output<typeof listAllActionItems.query>, "cursor">;
type Item = z.input<typeof ListedActionItem>;

/** Most meetings on a page, and most items unless one meeting has more. */
const maxMeetings = 50;
const maxItems = 200;

const cursorFormat = timeCursor("action items");

export function actionItemListRoutes(
  api: Api,
  { db, config }: { readonly db: Database; readonly config: Pick<Config, "baseUrl"> },
): void {
  route(api, listAllActionItems, async ({ principal, query: { cursor: from, ...filter } }) => {
    if (filter.assignee === "me" && principal.scope === "workspace")
      throw invalidInput([{ pointer: "/assignee", detail: "me is a user; use a personal token" }]);
    const { rows, cursor } = await readPage({
      cursor: from,
      size: maxMeetings,
      format: cursorFormat,
      fetch: (page) => findMeetings(db.pool, principal, filter, page),
      positionOf: (row) => row,
      shorten: (meetings) => takeUpToTotal(meetings, maxItems, ({ items }) => items),
    });
    const ids = rows.map(({ id }) => id);
    return { action_items: await findItems(db.pool, principal, filter, ids, config.baseUrl), cursor };
  });
}

type Bind = (value: unknown) => string;

/** SQL conditions on a row `a` of action_items. */
function itemConditions({ assignee, state, text }: Filter, principal: Principal, bind: Bind): string[] {
  const conditions = [`a.workspace_id = ${bind(principal.workspaceId)}::uuid`];
  if (state !== undefined) conditions.push(`a.status = ${bind(state)}`);
  if (text !== undefined && text.trim() !== "")
    conditions.push(`a.text_key like parley_contains(${bind(text.trim())})`);
  if (assignee === "none") conditions.push("a.assignee_id is null");
  else if (assignee === "me") conditions.push(`a.assignee_key = ${bind(principal.emailKey)}`);
  else if (assignee !== undefined)
    conditions.push(
      Uuid.safeParse(assignee).success
        ? `a.assignee_key = (select u.email_key from users u
            where u.workspace_id = ${bind(principal.workspaceId)}::uuid and u.id = ${bind(assignee)}::uuid)`
        : `a.assignee_key = parley_lower(${bind(assignee)})`,
    );
  return conditions;
}

/** SQL conditions on a row `g` of recording_grants. */
function meetingConditions(
  { team, meeting_type, from, to }: Filter,
  principal: Principal,
  bind: Bind,
): string[] {
  const conditions = filterConditions(
    { principal, filter: { team, meeting_type }, datetimeFilters: "by-name", rareTitles: null },
    bind,
  );
  if (from !== undefined) conditions.push(`g.start_datetime >= ${bind(parseTimestamp(from))}::timestamptz`);
  if (to !== undefined) conditions.push(`g.start_datetime < ${bind(parseTimestamp(to))}::timestamptz`);
  return conditions;
}

interface MeetingRow extends Position {
  /** How many items match. */
  readonly items: number;
}

/**
 * The next meetings with items that match, the newest first. Items of one assignee, and items with a text, lead to their
 * meetings: by their indexes, or, where many match, in the order of time until the page is full. Otherwise the meetings are read in the order of the caller's grants, as List Recordings
 * reads them, so that a page costs the same however many items there are.
 */
async function findMeetings(
  source: Queryable,
  principal: Principal,
  filter: Filter,
  { after, limit }: PageQuery<Position>,
): Promise<MeetingRow[]> {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const items = itemConditions(filter, principal, bind).join(" and ");
  const meetings = meetingConditions(filter, principal, bind);
  const max = bind(limit);
  const beyond = (row: string): string[] =>
    after === null
      ? []
      : [
          `(${row}.start_datetime, ${row}.recording_id) < (${bind(after.at)}::timestamptz, ${bind(after.id)}::uuid)`,
        ];
  const order = "start_datetime desc, recording_id desc";
  const isByItem =
    (filter.assignee !== undefined && filter.assignee !== "none") || Boolean(filter.text?.trim());
  const found = isByItem
    ? `select distinct a.start_datetime, a.recording_id from action_items a
        where ${[items, ...beyond("a")].join(" and ")}
          and exists (select 1 from recording_grants g where ${[
            "g.recording_id = a.recording_id",
            `g.principal_id = any(${bind(principal.sees)}::uuid[])`,
            ...meetings,
          ].join(" and ")})
        order by a.start_datetime desc, a.recording_id desc limit ${max}`
    : streamPrincipals(principal, filter)
        .map(
          (id) => `(select g.start_datetime, g.recording_id from recording_grants g
            where ${[
              `g.principal_id = ${bind(id)}::uuid`,
              ...meetings,
              ...beyond("g"),
              `exists (select 1 from action_items a where a.recording_id = g.recording_id and ${items})`,
            ].join(" and ")}
            order by g.start_datetime desc, g.recording_id desc limit ${max})`,
        )
        .join(" union ");
  const { rows } = await source.query<MeetingRow>({
    text: `select m.start_datetime as at, m.recording_id as id,
        (select count(*)::integer from action_items a where a.recording_id = m.recording_id and ${items}) as items
      from (select * from (${found}) found order by ${order} limit ${max}) m
      order by m.start_datetime desc, m.recording_id desc`,
    values,
  });
  return rows;
}

/** The items of these recordings that match, with whether the caller may complete each. */
async function findItems(
  source: Queryable,
  principal: Principal,
  filter: Filter,
  recordingIds: readonly string[],
  baseUrl: string,
): Promise<Item[]> {
  const values: unknown[] = [];
  const bind: Bind = (value) => `$${values.push(value)}`;
  const user = bind(principal.userId);
  const ids = { recording: "r.id", user };
  const mayChange = rightInSql(principal, "change", { bind, isRecorder: isRecorder(ids) });
  // The assignee may complete an item.
  const mayTick = principal.scope === "personal" && refusal("write", principal) === null;
  const { rows } = await source.query<{ item: Item }>({
    text: `select json_build_object(
        'id', a.id, 'status', a.status, 'timestamp', a.timestamp_ms, 'text', a.text, 'quote', a.quote, 'due_date', a.due_on,
        'assignee', case when p.id is not null
          then json_build_object('id', p.id, 'name', p.name, 'user_id', u.id) end,
        'recording', json_build_object('id', r.id, 'title', r.title,
          'start_datetime', parley_timestamp(r.start_datetime),
          'url', ${bind(baseUrl)}::text || '/recordings/' || r.id),
        'can_complete', ${mayChange} or (${bind(mayTick)}::boolean and u.id is not distinct from ${user}::uuid)) as item
      from action_items a join recordings r on r.id = a.recording_id
        left join participants p on p.recording_id = a.recording_id and p.id = a.assignee_id
        left join users u on u.workspace_id = r.workspace_id and u.email_key = p.email_key
      where a.recording_id = any(${bind(recordingIds)}::uuid[]) and ${itemConditions(filter, principal, bind).join(" and ")}
      order by a.start_datetime desc, a.recording_id desc, a.position`,
    values,
  });
  return rows.map(({ item }) => item);
}
