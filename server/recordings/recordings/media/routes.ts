import { type FileHandle, open } from "node:fs/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Uuid } from "../../../../contract/common.ts";
import type { View } from "../../../people/access/viewer.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { LinkSigner } from "../../../platform/crypto/link-signer.ts";
import type { Database } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { fileRoute } from "../../../platform/http/files/file-route.ts";
import { serveObject } from "../../../platform/http/files/serve-object.ts";
import { watch } from "../../../platform/http/files/watch-access.ts";
import { recordingObjectKey } from "../../../platform/storage/layout.ts";
import { ObjectMissingError, type ObjectStore } from "../../../platform/storage/store.ts";
import { mediaPath } from "../json/links.ts";
import type { ViewLog } from "../view-log.ts";
import { bucketUrl, contentTypes, downloadName, findRecordingMedia } from "./media.ts";
import { checkViewer, maxAgeSec, readFileQuery, readThumbnailQuery } from "./viewer-links.ts";

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly views: ViewLog;
  readonly stillSees: (view: View) => Promise<boolean>;
  readonly config: Pick<Config, "s3Downloads">;
}

/**
 * Serves files of recordings by signed URLs: the bytes, or with PARLEY_S3_DOWNLOADS=bucket a redirect of whole downloads to
 * a bucket's own URL that expires within a minute.
 * A URL is for one viewer and works as long as that viewer sees the recording.
 */
export function recordingMediaRoutes(
  app: FastifyInstance,
  { db, store, signer, views, stillSees, config }: Dependencies,
): void {
  /** The recording that the URL names. */
  const recordingIn = (request: FastifyRequest): string => {
    const { recording_id } = request.params as { recording_id: string };
    const id = Uuid.safeParse(recording_id).data?.toLowerCase();
    if (id === undefined) throw new ProblemError("not_found", "there is no such file");
    return id;
  };

  /** Serves an object of the store. */
  async function serve(
    request: FastifyRequest,
    reply: FastifyReply,
    key: string,
    described: { readonly contentType: string; readonly fileName?: string },
  ): Promise<FastifyReply> {
    const info = await store.head(key);
    if (info === null) throw gone();
    return serveObject(request, reply, {
      ...info,
      ...described,
      maxAgeSec,
      open: async (range) => {
        const path = store.localPath(key);
        try {
          return path === null ? (await store.get(key, range)).body : await openFile(path);
        } catch (error) {
          // The object was removed since it was found.
          throw error instanceof ObjectMissingError ? gone() : error;
        }
      },
    });
  }

  fileRoute(app, `${mediaPath}/:recording_id/media`, async (request, reply) => {
    const recordingId = recordingIn(request);
    const viewerId = readFileQuery(signer, "media", recordingId, request.query);
    const view = { viewerId, recordingId, ip: request.ip };
    await checkViewer(db.pool, view);
    const media = await findRecordingMedia(db.kysely, recordingId);
    if (media === undefined) throw gone();
    if (request.method === "GET") {
      await views.noteLink(request, media.workspace_id, media.recording_id);
      // Players read ranges for hours, and browsers send each to where the first was redirected: past its expiry.
      const isForBucket = config.s3Downloads === "bucket" && request.headers.range === undefined;
      const link = isForBucket ? await bucketUrl(store, media) : null;
      if (link !== null) return reply.header("cache-control", "no-store").redirect(link, 302);
    }
    watch(reply.raw, () => stillSees(view));
    return serve(request, reply, recordingObjectKey(media.recording_id, `media.${media.format}`), {
      contentType: contentTypes[media.format],
      fileName: downloadName(media),
    });
  });

  fileRoute(app, `${mediaPath}/:recording_id/thumbnail.jpg`, async (request, reply) => {
    const recordingId = recordingIn(request);
    const viewerId = readThumbnailQuery(signer, recordingId, request.query);
    await checkViewer(db.pool, { viewerId, recordingId, ip: request.ip });
    const key = recordingObjectKey(recordingId, "thumbnail.jpg");
    // Never the bucket's own URL: it would have to live long to stay in the browser's cache.
    return serve(request, reply, key, { contentType: "image/jpeg" });
  });
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "ENOENT" ? gone() : error;
  }
}

function gone(): ProblemError {
  return new ProblemError("not_found", "the file no longer exists; its recording was deleted");
}
