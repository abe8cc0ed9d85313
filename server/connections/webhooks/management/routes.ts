import * as contract from "../../../../contract/webhooks/hook-management.ts";
import { hookTypeNames } from "../../../../contract/webhooks/hook-types.ts";
import { managesWorkspace } from "../../../people/access/manages-workspace.ts";
import { actorOf } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { numberCursor, readPage } from "../../../platform/http/page.ts";
import { type Api, route } from "../../../platform/http/routing/route.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { findHook, findHooks, type HookRow } from "../api/queries.ts";
import { hookNotFound } from "../api/routes.ts";
import {
  type DeliveryContentRow,
  findActivity,
  findAttempts,
  findDeliveries,
  findDelivery,
} from "./log-queries.ts";
import { presentDelivery, presentDeliveryDetails, presentHookDetails } from "./present.ts";
import {
  deliveryNotFound,
  disable,
  enable,
  readRange,
  replayEvents,
  resend,
  rotateSecret,
  sendTest,
} from "./service.ts";

const cursorFormat = numberCursor("deliveries", 1);

/** What the management API does with hooks: their state, their log, and its repair. */
export function hookManagementRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: Pick<JobQueue, "wake">;
    readonly encryptor: Encryptor;
    readonly config: Pick<Config, "pageSize">;
  },
): void {
  const { db, config } = deps;

  route(api, contract.listAllHooks, async ({ principal, query }) => {
    if (query.of === "workspace" && !managesWorkspace(principal))
      throw new ProblemError(
        "forbidden",
        "only admins and workspace tokens can see the hooks of the workspace",
      );
    const rows = await findHooks(db.kysely, principal, {
      types: hookTypeNames,
      state: undefined,
      of: query.of,
    });
    return { hooks: await presentMany(rows) };
  });

  route(api, contract.getHook, async ({ principal, params }) =>
    presentOne(await find(principal, params.hook_id)),
  );

  route(api, contract.listDeliveries, async ({ principal, params, query }) => {
    const hook = await find(principal, params.hook_id);
    const { rows, cursor } = await readPage({
      cursor: query.cursor,
      size: config.pageSize,
      format: cursorFormat,
      fetch: ({ after, limit }) =>
        findDeliveries(db.kysely, hook.id, { state: query.state, before: after?.[0] ?? null, limit }),
      positionOf: (row) => [row.id],
    });
    return { deliveries: rows.map(presentDelivery), cursor };
  });

  route(api, contract.getDelivery, async ({ principal, params }) => {
    const hook = await find(principal, params.hook_id);
    const row = await findOne(hook, params.delivery_id, principal);
    return presentDeliveryDetails(hook, row, await findAttempts(db.kysely, row.id));
  });

  route(api, contract.resendDelivery, async ({ principal, params }) => {
    const hook = await find(principal, params.hook_id);
    await resend(deps, hook, await findOne(hook, params.delivery_id, principal));
    return presentDelivery(await findOne(hook, params.delivery_id, principal));
  });

  route(api, contract.replayHook, async ({ principal, params, body }) => {
    const range = readRange(body, new Date());
    const hook = await find(principal, params.hook_id);
    return { count: await replayEvents(deps, hook, body.which, range) };
  });

  route(api, contract.testHook, async ({ principal, params }) => {
    const hook = await find(principal, params.hook_id);
    return presentDelivery(await findOne(hook, await sendTest(deps, hook), principal));
  });

  route(api, contract.rotateHookSecret, async ({ principal, params, body, request }) => {
    const hook = await find(principal, params.hook_id);
    const { secret, until } = await rotateSecret(deps, hook, body.overlap_sec, actorOf(request));
    return { secret, previous_secret_until: until === null ? null : until.toISOString() };
  });

  route(api, contract.enableHook, async ({ principal, params, request }) => {
    await enable(deps, await find(principal, params.hook_id), principal, actorOf(request));
    return presentOne(await find(principal, params.hook_id));
  });

  route(api, contract.disableHook, async ({ principal, params, request }) => {
    await disable(deps, await find(principal, params.hook_id), actorOf(request));
    return presentOne(await find(principal, params.hook_id));
  });

  async function find(principal: Principal, hookId: string): Promise<HookRow> {
    const hook = await findHook(db.kysely, principal, hookId);
    if (hook === undefined) throw hookNotFound(hookId);
    return hook;
  }

  async function findOne(
    hook: HookRow,
    deliveryId: string,
    principal: Principal,
  ): Promise<DeliveryContentRow> {
    const row = await findDelivery(db.kysely, hook.id, deliveryId, principal);
    if (row === undefined) throw deliveryNotFound(deliveryId);
    return row;
  }

  async function presentMany(rows: readonly HookRow[]) {
    const activity = await findActivity(
      db.pool,
      rows.map((row) => row.id),
    );
    const now = new Date();
    return rows.map((row) => presentHookDetails(row, activity.get(row.id), now));
  }

  async function presentOne(row: HookRow) {
    const [hook] = await presentMany([row]);
    if (hook === undefined) throw new Error("one row makes one hook");
    return hook;
  }
}
