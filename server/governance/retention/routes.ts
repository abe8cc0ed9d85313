import { sql } from "kysely";
import * as contract from "../../../contract/governance/retention.ts";
import { DeletionReceipt } from "../../../contract/recordings/recording-management.ts";
import { actorOf } from "../../platform/audit/record.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { readPage, timeCursor } from "../../platform/http/page.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";
import { findHolds, type HoldRow, placeHold, releaseHold } from "./holds.ts";
import { type Conditions, countMatches, findMatches } from "./matching.ts";
import {
  checkReferences,
  createRule,
  deleteRule,
  findRules,
  type RuleInput,
  type RuleRow,
  updateRule,
} from "./rules.ts";

interface Dependencies {
  readonly db: Database;
  readonly config: Pick<Config, "pageSize" | "retentionGraceMs">;
}

const receiptCursor = timeCursor("receipts");

/** How many recordings a preview names. */
const previewed = 100;

/** Retention rules, legal holds and deletion receipts. */
export function retentionRoutes(api: Api, deps: Dependencies): void {
  const { db, config } = deps;
  const graceMs = config.retentionGraceMs;

  route(api, contract.listRetentionRules, async ({ principal }) => ({
    rules: (await findRules(db, principal.workspaceId)).map(presentRule),
  }));
  route(api, contract.createRetentionRule, async ({ principal, body, request }) =>
    presentRule(
      await createRule(
        { db, principal, actor: actorOf(request), graceMs },
        { ...conditionsOf(body), name: body.name, is_enabled: body.enabled },
      ),
    ),
  );
  route(
    api,
    contract.updateRetentionRule,
    async ({ principal, params, body, request }) => {
      const { enabled, ...rest } = body;
      const change: Partial<{ [Name in keyof RuleInput]: RuleInput[Name] | undefined }> = {
        ...rest,
        is_enabled: enabled,
      };
      return presentRule(
        await updateRule({ db, principal, actor: actorOf(request), graceMs }, params.rule_id, change),
      );
    },
    // Null removes a condition.
    { keepNulls: true },
  );
  route(api, contract.deleteRetentionRule, ({ principal, params, request }) =>
    deleteRule({ db, principal, actor: actorOf(request) }, params.rule_id),
  );
  route(api, contract.previewRetention, async ({ principal, body }) => {
    const conditions = conditionsOf(body);
    await db.kysely.transaction().execute((tx) => checkReferences(tx, principal.workspaceId, conditions));
    const [counts, oldest] = await Promise.all([
      countMatches(db.kysely, principal.workspaceId, conditions),
      findMatches(db.kysely, principal.workspaceId, conditions, previewed),
    ]);
    return {
      ...counts,
      oldest: oldest.map(({ id, title, start_datetime }) => ({
        id,
        title,
        start_datetime: start_datetime.toISOString(),
      })),
    };
  });
  route(api, contract.listRetentionReceipts, async ({ principal, query }) => {
    const { rows, cursor } = await readPage({
      cursor: query.cursor,
      size: config.pageSize,
      format: receiptCursor,
      fetch: ({ after, limit }) =>
        db.kysely
          .selectFrom("retention_receipts")
          .selectAll()
          .where("workspace_id", "=", principal.workspaceId)
          .$if(after !== null, (select) =>
            select.where(sql<boolean>`(deleted_at, id) < (${after?.at}::timestamptz, ${after?.id}::uuid)`),
          )
          .orderBy("deleted_at", "desc")
          .orderBy("id", "desc")
          .limit(limit)
          .execute(),
      positionOf: ({ deleted_at: at, id }) => ({ at, id }),
    });
    return {
      receipts: rows.map((row) => ({
        recording_id: row.recording_id,
        rule_id: row.rule_id,
        rule_name: row.rule_name,
        deleted_datetime: row.deleted_at.toISOString(),
        receipt: DeletionReceipt.parse(row.receipt),
      })),
      cursor,
    };
  });
  route(api, contract.listLegalHolds, async ({ principal }) => ({
    legal_holds: (await findHolds(db.kysely, principal)).map(presentHold),
  }));
  route(api, contract.placeLegalHold, async ({ principal, params, body, request }) =>
    presentHold(await placeHold(db, principal, actorOf(request), params.recording_id, body.reason)),
  );
  route(api, contract.releaseLegalHold, ({ principal, params, request }) =>
    releaseHold(db, principal, actorOf(request), params.recording_id),
  );
}

type ConditionsInput = {
  readonly older_than_days: number;
} & { readonly [Name in Exclude<keyof Conditions, "older_than_days">]?: Conditions[Name] | undefined };

function conditionsOf({
  older_than_days,
  team_id,
  meeting_type_id,
  tag,
  scope,
}: ConditionsInput): Conditions {
  return {
    older_than_days,
    team_id: team_id ?? null,
    meeting_type_id: meeting_type_id ?? null,
    tag: tag ?? null,
    scope: scope ?? null,
  };
}

function presentRule(row: RuleRow) {
  return {
    id: row.id,
    name: row.name,
    older_than_days: row.older_than_days,
    team_id: row.team_id,
    meeting_type_id: row.meeting_type_id,
    tag: row.tag,
    scope: row.scope,
    enabled: row.is_enabled,
    acts_from_datetime: row.acts_from.toISOString(),
    created_datetime: row.created_at.toISOString(),
  };
}

function presentHold(row: HoldRow) {
  return {
    recording_id: row.recording_id,
    recording:
      row.title === null || row.start_datetime === null
        ? null
        : { id: row.recording_id, title: row.title, start_datetime: row.start_datetime.toISOString() },
    purge_datetime: row.purge_at?.toISOString() ?? null,
    reason: row.reason,
    placed_by: row.placed_by,
    placed_datetime: row.placed_at.toISOString(),
  };
}
