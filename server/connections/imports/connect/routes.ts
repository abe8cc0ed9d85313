import type { z } from "zod";
import * as contract from "../../../../contract/accounts/connections.ts";
import { because } from "../../../../contract/causes/causes.ts";
import { actorOf, recordAudit } from "../../../platform/audit/record.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { type Api, route } from "../../../platform/http/routing/route.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import {
  type ConnectionRow,
  createConnection,
  deleteConnection,
  findOwnConnection,
  listConnections,
  readSecrets,
} from "./connections.ts";
import { type ListedEvent, listEvents, refreshEvents, resetEvent } from "./events.ts";
import type { ConnectionSecrets } from "./service.ts";

/** None where they were encrypted with another PARLEY_SECRET: the connection can still be listed and deleted. */
function readableSecrets(encryptor: Encryptor, row: ConnectionRow): Partial<ConnectionSecrets> {
  try {
    return readSecrets(encryptor, row);
  } catch {
    return {};
  }
}

/** Connections to Zoom, Attendee and Vexa, for admins. */
export function connectionRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly encryptor: Encryptor;
    readonly config: Pick<Config, "baseUrl">;
  },
): void {
  const { db, jobs, encryptor, config } = deps;

  const present = (row: ConnectionRow): z.input<typeof contract.Connection> => {
    const { api_key, client_secret } = readableSecrets(encryptor, row);
    return {
      id: row.id,
      kind: row.kind,
      name: row.name,
      webhook_url: `${config.baseUrl}/_/connect/${row.kind}/${row.id}`,
      base_url: row.base_url,
      media_hosts: row.media_hosts,
      has_api_credentials: api_key !== undefined || client_secret !== undefined,
      created_datetime: row.created_at.toISOString(),
      received_datetime: row.received_at?.toISOString() ?? null,
    };
  };

  route(api, contract.listConnections, async ({ principal }) => ({
    connections: (await listConnections(db.kysely, principal.workspaceId)).map(present),
  }));

  route(api, contract.createConnection, async ({ principal, body, request }) =>
    present(await createConnection(deps, principal, actorOf(request), body)),
  );

  route(api, contract.deleteConnection, async ({ principal, params, request }) => {
    await deleteConnection(db, principal.workspaceId, actorOf(request), params.connection_id);
    return { success: true as const };
  });

  route(api, contract.listConnectionEvents, async ({ principal, params }) => {
    const { id } = await findOwnConnection(db.kysely, principal.workspaceId, params.connection_id);
    await refreshEvents(db.kysely);
    return { events: (await listEvents(db.kysely, id)).map(presentEvent) };
  });

  route(api, contract.retryConnectionEvent, async ({ principal, params, request }) => {
    const { connection_id, event_id } = params;
    await db.kysely.transaction().execute(async (tx) => {
      await findOwnConnection(tx, principal.workspaceId, connection_id);
      const event = await resetEvent(tx, connection_id, event_id);
      if (event === undefined)
        throw new ProblemError(
          "not_found",
          `the connection has no event ${event_id}; see List Connection Events`,
        );
      if (event.state !== "failed" || event.payload === null)
        throw new ProblemError("wrong_state", because("event_not_failed", { state: event.state }));
      await recordAudit(tx, actorOf(request), {
        action: "connection_event_retried",
        subject: { type: "connection", id: connection_id },
        details: { event: event_id, type: event.type },
      });
      await jobs.enqueue(tx, "import_connection_event", { connectionEventId: event_id }, event_id);
    });
    jobs.wake();
    return { success: true as const };
  });
}

function presentEvent({ next_at, created_at, ...event }: ListedEvent) {
  return {
    ...event,
    next_attempt_datetime: event.state === "pending" ? next_at.toISOString() : null,
    created_datetime: created_at.toISOString(),
  };
}
