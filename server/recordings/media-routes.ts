import { type FileHandle, open } from "node:fs/promises";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { ViewLog } from "../audit/views.ts";
import type { Database } from "../db/database.ts";
import { ProblemError } from "../http/problem.ts";
import { serveObject } from "../http/serve-object.ts";
import { readLink } from "../links/read-link.ts";
import type { LinkPurpose, LinkSigner } from "../links/signer.ts";
import { recordingObjectKey } from "../storage/layout.ts";
import { ObjectMissingError, type ObjectStore } from "../storage/store.ts";
import { mediaPath } from "./links.ts";
import { contentTypes, downloadName, findRecordingMedia, storeLink } from "./media.ts";

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
  readonly views: ViewLog;
}

/** How long a browser may keep a file whose link it has; files of recordings never change. */
const maxAgeSec = 3600;

/** Whoever follows a link in its last second still gets to begin. */
const leastLinkMs = 60_000;

/**
 * A bucket's link to a thumbnail is the same within an hour and lives for an hour after it, so that it leads to a picture
 * that the browser has already. Where it leads may be kept for less than that hour.
 */
const hourMs = 3_600_000;
const thumbnailMaxAgeSec = 3000;

/** Hands out files of recordings to whoever has a signed link: the bytes, or the bucket's own link to them. */
export function recordingMediaRoutes(app: FastifyInstance, { db, store, signer, views }: Dependencies): void {
  /** The recording that the address names, if its signature is good. */
  const recordingIn = (request: FastifyRequest, purpose: LinkPurpose): string =>
    readLink(signer, purpose, (request.params as { recording_id: string }).recording_id, request.query);

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
          // It has been removed since it was looked at.
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
      const media = await findRecordingMedia(db.kysely, recordingIn(request, "media"));
      if (media === undefined) throw gone();
      // A bucket's link is good for GET alone.
      if (request.method === "GET") {
        await views.noteLink(request, media.workspace_id, media.recording_id);
        const { expires } = request.query as { expires: string };
        const expiresAt = new Date(Math.max(Number(expires), Date.now() + leastLinkMs));
        const link = await storeLink(store, media, expiresAt);
        if (link !== null) return reply.redirect(link, 302);
      }
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
      const key = recordingObjectKey(recordingIn(request, "thumbnail"), "thumbnail.jpg");
      const contentType = "image/jpeg";
      const expiresAt = new Date((Math.floor(Date.now() / hourMs) + 2) * hourMs);
      const link =
        request.method === "GET" ? await store.downloadLink(key, { expiresAt, contentType }) : null;
      if (link === null) return serve(request, reply, key, { contentType });
      return reply.header("cache-control", `private, max-age=${thumbnailMaxAgeSec}`).redirect(link, 302);
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
  return new ProblemError("not_found", "the file is not here any more; its recording was deleted");
}
