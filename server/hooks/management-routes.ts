import * as contract from "../../contract/hook-management.ts";
import { type HookType, hookTypes } from "../../contract/hooks.ts";
import type { Principal } from "../access/principal.ts";
import { actorOf } from "../audit/record.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { ProblemError } from "../http/problem.ts";
import { type Api, route } from "../http/route.ts";
import type { JobQueue } from "../jobs/queue.ts";
import type { Sealer } from "../links/sealer.ts";
import {
  type DeliveryContentRow,
  findActivity,
  findAttempts,
  findDeliveries,
  findDelivery,
} from "./log-queries.ts";
import { decodePlace, encodePlace } from "./management-cursor.ts";
import { presentDelivery, presentDeliveryDetails, presentHookDetails } from "./management-present.ts";
import { readRange } from "./management-replay.ts";
import {
  deliveryNotFound,
  disable,
  enable,
  replayEvents,
  resend,
  rotateSecret,
  sendTest,
} from "./management-service.ts";
import { findHook, findHooks, type HookRow, looksAfterWorkspace } from "./queries.ts";
import { hookNotFound } from "./routes.ts";

const cursorName = "deliveries";

/** What the management API does with hooks: their state, their log, and its repair. */
export function hookManagementRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: Pick<JobQueue, "wake">;
    readonly sealer: Sealer;
    readonly config: Pick<Config, "pageSize">;
  },
): void {
  const { db, config } = deps;

  route(api, contract.listAllHooks, async ({ principal, query }) => {
    if (query.of === "workspace" && !looksAfterWorkspace(principal))
      throw new ProblemError("forbidden", "only admins and workspace tokens see the hooks of the workspace");
    const types = Object.keys(hookTypes) as HookType[];
    const rows = await findHooks(db.kysely, principal, { types, state: undefined, of: query.of });
    return { hooks: await presentMany(rows) };
  });

  route(api, contract.getHook, async ({ principal, params }) =>
    presentOne(await find(principal, params.hook_id)),
  );

  route(api, contract.listDeliveries, async ({ principal, params, query }) => {
    const hook = await find(principal, params.hook_id);
    const rows = await findDeliveries(db.kysely, hook.id, {
      state: query.state,
      before: query.cursor === undefined ? null : decodePlace(cursorName, query.cursor),
      // One more than the page shows whether there is a next one.
      limit: config.pageSize + 1,
    });
    const page = rows.slice(0, config.pageSize);
    const last = page.at(-1);
    return {
      deliveries: page.map(presentDelivery),
      cursor: rows.length > page.length && last ? encodePlace(cursorName, last.id) : null,
    };
  });

  route(api, contract.getDelivery, async ({ principal, params }) => {
    const hook = await find(principal, params.hook_id);
    const row = await findOne(hook, params.delivery_id, principal);
    return presentDeliveryDetails(hook, row, await findAttempts(db.kysely, row));
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

  route(api, contract.enableHook, async ({ principal, params }) => {
    await enable(deps, await find(principal, params.hook_id));
    return presentOne(await find(principal, params.hook_id));
  });

  route(api, contract.disableHook, async ({ principal, params }) => {
    await disable(deps, await find(principal, params.hook_id));
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
