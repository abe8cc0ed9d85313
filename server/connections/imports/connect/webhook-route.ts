import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database } from "../../../platform/db/database.ts";
import { refuseEncoded } from "../../../platform/http/body/body-rules.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { type ConnectionRow, findConnection, noteReceived, readSecrets, serviceOf } from "./connections.ts";
import { storeEvent } from "./events.ts";

/** Larger than the events of services. */
const bodyLimit = 512 * 1024;

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly encryptor: Encryptor;
}

/**
 * Receives the webhooks of connections, which prove themselves by their signature. The scope must have `limitForms`:
 * requests are counted by IP address until they have. An event is stored before it is acknowledged.
 */
export function connectionWebhookRoutes(scope: FastifyInstance, deps: Dependencies): void {
  scope.removeAllContentTypeParsers();
  // Signatures are over the bytes as they were sent.
  scope.addContentTypeParser("*", { parseAs: "buffer" }, async (request: FastifyRequest, body: Buffer) => {
    refuseEncoded(request);
    return body;
  });
  scope.post<{ Params: { kind: string; connection_id: string } }>(
    "/_/connect/:kind/:connection_id",
    { bodyLimit },
    async (request) => {
      const { kind, connection_id: id } = request.params;
      const connection = uuid.test(id) ? await findConnection(deps.db.kysely, id) : undefined;
      if (connection?.kind !== kind)
        throw new ProblemError("not_found", "the connection does not exist; see Settings → Connections");
      return receive(deps, connection, request);
    },
  );
}

async function receive(
  { db, jobs, encryptor }: Dependencies,
  connection: ConnectionRow,
  request: FastifyRequest,
): Promise<object> {
  const service = serviceOf(connection);
  const { webhook_secret: secret } = readSecrets(encryptor, connection);
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const challenge = service.challenge?.(body, secret) ?? null;
  if (challenge !== null) return challenge;
  if (!service.isSigned({ headers: request.headers, body }, secret, new Date()))
    throw new ProblemError(
      "token_invalid",
      "the signature does not match the connection's secret or is more than 5 minutes old; compare the secrets and clocks",
    );
  request.refundRateLimit?.();
  await noteReceived(db.kysely, connection);
  const event = service.read(body);
  if (event !== null) {
    await db.kysely.transaction().execute(async (tx) => {
      const eventId = await storeEvent(tx, encryptor, connection.id, event);
      if (eventId !== null)
        await jobs.enqueue(tx, "import_connection_event", { connectionEventId: eventId }, eventId);
    });
    jobs.wake();
  }
  return { success: true };
}
