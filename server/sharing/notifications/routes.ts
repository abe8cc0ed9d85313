import { notificationKindNames } from "../../../contract/workspace/notification-kinds.ts";
import * as contract from "../../../contract/workspace/notifications.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { readPage, timeCursor } from "../../platform/http/page.ts";
import { type Api, Ready, route } from "../../platform/http/routing/route.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { i18nOf } from "../../platform/language/request-language.ts";
import { present } from "./describe.ts";
import * as queries from "./queries.ts";
import type { NotificationStreams } from "./streams.ts";

const cursorFormat = timeCursor("notifications");

/** The notifications of the caller, and how they are notified. */
export function notificationRoutes(
  api: Api,
  {
    db,
    jobs,
    config,
    streams,
  }: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly config: Pick<Config, "baseUrl" | "pageSize">;
    readonly streams: NotificationStreams;
  },
): void {
  route(api, contract.listNotifications, async ({ principal, query, request }) => {
    const userId = userOf(principal);
    const i18n = await i18nOf(request, principal.language ?? null);
    const [{ rows, cursor }, states] = await Promise.all([
      readPage({
        cursor: query.cursor,
        size: config.pageSize,
        format: cursorFormat,
        fetch: (page) => queries.findPage(db.pool, userId, { ...page, isUnread: query.unread === "true" }),
        positionOf: ({ created_at: at, id }) => ({ at, id }),
      }),
      queries.readStates(db.pool, [userId]),
    ]);
    return {
      notifications: rows.map((row) => present(i18n, row, { baseUrl: config.baseUrl, kinds: jobs.kinds })),
      unread: states.get(userId)?.unread ?? 0,
      cursor,
    };
  });

  route(api, contract.readNotifications, async ({ principal, body }) => {
    await queries.markRead(db.kysely, userOf(principal), body);
    return { success: true } as const;
  });

  route(api, contract.streamNotifications, async ({ principal, request }) => {
    const userId = userOf(principal);
    return new Ready(request.method === "HEAD" ? "" : streams.open(userId), {
      "content-type": "text/event-stream; charset=utf-8",
      // nginx would keep the events until there are many.
      "x-accel-buffering": "no",
    });
  });

  route(api, contract.getNotificationSettings, ({ principal }) =>
    queries.readSettings(db.kysely, userOf(principal)),
  );
  route(api, contract.updateNotificationSettings, async ({ principal, body }) => {
    const userId = userOf(principal);
    const chosen = ([...notificationKindNames, "summary_emailed"] as const).flatMap((kind) => {
      const channel = body[kind];
      return channel === undefined ? [] : [{ kind, channel }];
    });
    await db.kysely.transaction().execute((tx) => queries.saveSettings(tx, userId, chosen));
    return queries.readSettings(db.kysely, userId);
  });
}

/** @throws ProblemError `forbidden` for workspace tokens, which belong to no user. */
function userOf({ scope, userId }: Principal): string {
  if (scope === "workspace")
    throw new ProblemError(
      "forbidden",
      "notifications belong to a user and this is a workspace token; use a personal token",
    );
  return userId;
}
