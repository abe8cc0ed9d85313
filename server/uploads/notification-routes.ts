import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { ProblemError } from "../http/problem.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { ownerOf, uploadsPrefix } from "../storage/layout.ts";
import type { ObjectStore } from "../storage/store.ts";
import { lookForFile } from "./arrival.ts";

/** The form of a bucket's notification that Amazon, Ceph and MinIO share. */
const Notification = z.object({
  Records: z.array(z.object({ s3: z.object({ object: z.object({ key: z.string() }) }) })).max(1000),
});

/**
 * Where a bucket's notifications arrive (`PARLEY_S3_NOTIFICATION_TOKEN`). One only says where to look: whether the
 * file is there is seen in the bucket, so a false notification does nothing.
 */
export function notificationRoutes(
  app: FastifyInstance,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly store: ObjectStore;
    readonly config: Pick<Config, "s3NotificationToken">;
  },
): void {
  const expected = deps.config.s3NotificationToken;
  if (expected === null) return;
  app.post("/_/storage/notifications", async (request) => {
    const { token } = request.query as { token?: unknown };
    const given = /^Bearer\s+(.+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? token;
    if (typeof given !== "string" || !isSame(given, expected))
      throw new ProblemError("token_invalid", "the notification does not carry PARLEY_S3_NOTIFICATION_TOKEN");
    const notification = Notification.safeParse(request.body);
    // Buckets send test messages of other forms, which mean nothing here.
    for (const record of notification.data?.Records ?? []) {
      const key = deps.store.ownKey(decodeKey(record.s3.object.key));
      const uploadId = key?.startsWith(uploadsPrefix) ? ownerOf(key) : null;
      if (uploadId !== null) await lookForFile(deps, uploadId);
    }
    return { success: true };
  });
}

/** Keys come percent-encoded, with a plus for a space. */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll("+", " "));
  } catch {
    return key; // Not encoded; ours need no encoding.
  }
}

function isSame(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
