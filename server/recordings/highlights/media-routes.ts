import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Uuid } from "../../../contract/common.ts";
import type { LinkSigner } from "../../platform/crypto/link-signer.ts";
import type { Database } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { fileRoute } from "../../platform/http/files/file-route.ts";
import { serveObject } from "../../platform/http/files/serve-object.ts";
import { recordingObjectKey } from "../../platform/storage/layout.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { highlightMediaPath } from "../recordings/json/highlight.ts";
import { checkViewer, maxAgeSec, readThumbnailQuery } from "../recordings/media/viewer-links.ts";
import { cutTile, neutralPicture, readObject } from "./picture.ts";
import { findHighlightPicture, type HighlightPictureRow } from "./queries.ts";

/** Serves thumbnails of highlights by signed URLs, as long as the viewer can see the recording. */
export function highlightMediaRoutes(
  app: FastifyInstance,
  deps: { readonly db: Database; readonly store: ObjectStore; readonly signer: LinkSigner },
): void {
  const { db, store, signer } = deps;

  fileRoute(app, `${highlightMediaPath}/:highlight_id/thumbnail.jpg`, async (request, reply) => {
    const id = Uuid.safeParse((request.params as { highlight_id: string }).highlight_id).data?.toLowerCase();
    if (id === undefined) throw new ProblemError("not_found", "there is no such file");
    const viewerId = readThumbnailQuery(signer, id, request.query);
    const row = await findHighlightPicture(db.pool, id);
    if (row === undefined)
      throw new ProblemError("not_found", "the thumbnail no longer exists; its highlight was deleted");
    await checkViewer(db.pool, { viewerId, recordingId: row.recording_id, ip: request.ip });
    const picture = await findPicture(request, row);
    return serveObject(request, reply, {
      size: picture.length,
      etag: createHash("sha256").update(picture).digest("hex").slice(0, 32),
      modifiedAt: startedAt,
      contentType: "image/jpeg",
      maxAgeSec,
      open: async (range) =>
        Readable.from([range === undefined ? picture : picture.subarray(range.start, range.end + 1)]),
    });
  });

  // A generated image has no modification time, so its validator is a hash of the content.
  const startedAt = new Date();

  /** A frame from the start of the highlight, or the recording's thumbnail, or a neutral image. */
  async function findPicture(request: FastifyRequest, row: HighlightPictureRow): Promise<Buffer> {
    try {
      const tile = row.has_storyboard ? await cutTile(store, row.recording_id, row.start_ms) : null;
      if (tile !== null) return tile;
    } catch (error) {
      // Falls back to the recording's thumbnail.
      request.log.warn({ err: error, recordingId: row.recording_id }, "could not cut the storyboard");
    }
    const whole = row.has_thumbnail
      ? await readObject(store, recordingObjectKey(row.recording_id, "thumbnail.jpg"))
      : null;
    return whole ?? neutralPicture;
  }
}
