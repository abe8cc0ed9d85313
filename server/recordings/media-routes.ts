import { type FileHandle, open } from "node:fs/promises";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Uuid } from "../../contract/common.ts";
import type { Database } from "../db/database.ts";
import { ProblemError } from "../http/problem.ts";
import { serveObject } from "../http/serve-object.ts";
import type { LinkPurpose, LinkSigner } from "../links/signer.ts";
import { recordingObjectKey } from "../storage/layout.ts";
import { ObjectMissingError, type ObjectStore } from "../storage/store.ts";
import { mediaPath } from "./links.ts";
import { contentTypes, downloadName, findRecordingMedia } from "./media.ts";

interface Dependencies {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly signer: LinkSigner;
}

/** How long a browser may keep a file whose link it has; files of recordings never change. */
const maxAgeSec = 3600;

/** Hands out files of recordings to whoever has a signed link. A bucket hands out its own; this is for the rest. */
export function recordingMediaRoutes(app: FastifyInstance, { db, store, signer }: Dependencies): void {
  /** The recording that the address names, if its signature is good. */
  function readLink(request: FastifyRequest, purpose: LinkPurpose): string {
    const id = Uuid.safeParse((request.params as { recording_id: string }).recording_id).data?.toLowerCase();
    if (id === undefined) throw new ProblemError("not_found", "nothing is here");
    const fault = signer.check(purpose, id, request.query, new Date());
    if (fault === "invalid")
      throw new ProblemError("link_invalid", "the signature of this address is missing or wrong");
    if (fault === "expired")
      throw new ProblemError("link_expired", "this link has expired; ask for a new one");
    return id;
  }

  app.route({
    method: ["GET", "HEAD"],
    url: `${mediaPath}/:recording_id/media`,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const recordingId = readLink(request, "media");
      const media = await findRecordingMedia(db.kysely, recordingId);
      if (media === undefined) throw gone();
      const key = recordingObjectKey(recordingId, `media.${media.format}`);
      const info = await store.head(key);
      if (info === null) throw gone();
      return serveObject(request, reply, {
        ...info,
        contentType: contentTypes[media.format],
        fileName: downloadName(media),
        maxAgeSec,
        open: async (range) => {
          const path = store.localPath(key);
          return path === null ? (await store.get(key, range)).body : openFile(path);
        },
      });
    },
  });

  app.route({
    method: ["GET", "HEAD"],
    url: `${mediaPath}/:recording_id/thumbnail.jpg`,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const key = recordingObjectKey(readLink(request, "thumbnail"), "thumbnail.jpg");
      const link = await store.downloadLink(key, {
        expiresAt: new Date(Date.now() + maxAgeSec * 1000),
        contentType: "image/jpeg",
      });
      if (link !== null) return reply.redirect(link, 302);
      const info = await store.head(key);
      if (info === null) throw gone();
      return serveObject(request, reply, {
        ...info,
        contentType: "image/jpeg",
        maxAgeSec,
        open: async () => {
          try {
            return (await store.get(key)).body;
          } catch (error) {
            throw error instanceof ObjectMissingError ? gone() : error;
          }
        },
      });
    },
  });
}

/** It may have been removed since it was looked at. */
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
