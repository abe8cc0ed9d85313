import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Config } from "../../../platform/config/config.ts";
import type { Database } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { ipPrefixOf } from "../../../platform/http/limits/ip-prefix.ts";
import { applyAllowance, type RateLimiter } from "../../../platform/http/limits/rate-limit.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { ownerOf, uploadsPrefix } from "../../../platform/storage/layout.ts";
import type { ObjectStore } from "../../../platform/storage/store.ts";
import { checkForFile } from "./arrival.ts";

/** The notification format that Amazon, Ceph and MinIO share. */
const Notification = z.object({
  Records: z.array(z.object({ s3: z.object({ object: z.object({ key: z.string() }) }) })).max(1000),
});

/**
 * Receives a bucket's notifications (`PARLEY_S3_NOTIFICATION_TOKEN`). A notification only triggers a check: the bucket
 * itself shows whether the file is there, so a false notification does nothing.
 */
export function bucketNotificationRoutes(
  app: FastifyInstance,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly store: ObjectStore;
    readonly limiter: RateLimiter;
    readonly config: Pick<Config, "rateLimitPerMinute" | "s3NotificationToken">;
  },
): void {
  /** Checked before the body is read; failures count by IP address, like other requests without a valid token. */
  async function checkToken(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const { s3NotificationToken: expected, rateLimitPerMinute: limit } = deps.config;
    if (expected === null) {
      reply.callNotFound();
      return reply;
    }
    const { token } = request.query as { token?: unknown };
    const { authorization = "" } = request.headers;
    const given = /^bearer /i.test(authorization) ? authorization.slice("bearer ".length).trim() : token;
    if (typeof given === "string" && isSame(given, expected)) return;
    if (limit > 0) applyAllowance(reply, await deps.limiter.take(`address:${ipPrefixOf(request.ip)}`, limit));
    throw new ProblemError(
      "token_invalid",
      "the notification must include the value of PARLEY_S3_NOTIFICATION_TOKEN",
    );
  }

  app.post("/_/storage/notifications", { onRequest: checkToken }, async (request) => {
    const notification = Notification.safeParse(request.body);
    // Buckets send test messages in other formats, which are ignored.
    for (const record of notification.data?.Records ?? []) {
      const key = deps.store.ownKey(decodeKey(record.s3.object.key));
      const uploadId = key?.startsWith(uploadsPrefix) ? ownerOf(key) : null;
      if (uploadId !== null) await checkForFile(deps, uploadId);
    }
    return { success: true };
  });
}

/** Keys arrive percent-encoded, with a plus for a space. */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll("+", " "));
  } catch {
    return key; // Not encoded; our keys need no encoding.
  }
}

function isSame(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
