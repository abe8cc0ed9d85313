import { type FileHandle, open } from "node:fs/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Uuid } from "../../../contract/common.ts";
import { viewerSees } from "../../access/viewer.ts";
import type { ViewLog } from "../../audit/views.ts";
import type { LinkSigner } from "../../platform/crypto/link-signer.ts";
import type { Database } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { serveObject } from "../../platform/http/files/serve-object.ts";
import { watch } from "../../platform/http/files/watch-access.ts";
import { recordingObjectKey } from "../../platform/storage/layout.ts";
import { ObjectMissingError, type ObjectStore } from "../../platform/storage/store.ts";
import { mediaPath } from "../json/links.ts";
import { contentTypes, downloadName, findRecordingMedia, storeLink } from "./media.ts";
import { checkViewer, maxAgeSec, readFileQuery, readThumbnailQuery } from "./viewer-links.ts";

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly views: ViewLog;
}

/** Extra lifetime of the bucket's URL, so that a request in the last second of this server's URL can still start. */
const minLinkMs = 60_000;

/**
 * A bucket's thumbnail URL is the same within an hour and valid for another hour, so that the browser finds the image in
 * its cache.
 */
const hourMs = 3_600_000;

/**
 * Serves files of recordings by signed URLs: the bytes, or a redirect to the bucket's own URL. A URL is for one viewer and
 * works as long as that viewer sees the recording.
 */
export function recordingMediaRoutes(app: FastifyInstance, { db, store, signer, views }: Dependencies): void {
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

  app.route({
    method: ["GET", "HEAD"],
    url: `${mediaPath}/:recording_id/media`,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const recordingId = recordingIn(request);
      const viewerId = readFileQuery(signer, "media", recordingId, request.query);
      await checkViewer(db.pool, viewerId, recordingId);
      const media = await findRecordingMedia(db.kysely, recordingId);
      if (media === undefined) throw gone();
      // The bucket's URL is signed for GET alone.
      if (request.method === "GET") {
        await views.noteLink(request, media.workspace_id, media.recording_id);
        const { expires } = request.query as { expires: string };
        const expiresAt = new Date(Math.max(Number(expires), Date.now() + minLinkMs));
        const link = await storeLink(store, media, expiresAt);
        if (link !== null) return reply.redirect(link, 302);
      }
      watch(reply.raw, () => viewerSees(db.pool, viewerId, recordingId));
      return serve(request, reply, recordingObjectKey(media.recording_id, `media.${media.format}`), {
        contentType: contentTypes[media.format],
        fileName: downloadName(media),
      });
    },
  });

  app.route({
    method: ["GET", "HEAD"],
    url: `${mediaPath}/:recording_id/thumbnail.jpg`,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const recordingId = recordingIn(request);
      await checkViewer(db.pool, readThumbnailQuery(signer, recordingId, request.query), recordingId);
      const key = recordingObjectKey(recordingId, "thumbnail.jpg");
      const contentType = "image/jpeg";
      const expiresAt = new Date((Math.floor(Date.now() / hourMs) + 2) * hourMs);
      const link =
        request.method === "GET" ? await store.downloadLink(key, { expiresAt, contentType }) : null;
      if (link === null) return serve(request, reply, key, { contentType });
      return reply.header("cache-control", `private, max-age=${maxAgeSec}`).redirect(link, 302);
    },
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
