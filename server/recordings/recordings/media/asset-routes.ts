import type { FastifyInstance } from "fastify";
import { Uuid } from "../../../../contract/common.ts";
import type { LinkSigner } from "../../../platform/crypto/link-signer.ts";
import type { Database } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { fileRoute } from "../../../platform/http/files/file-route.ts";
import { serveObject } from "../../../platform/http/files/serve-object.ts";
import { ObjectMissingError, type ObjectStore } from "../../../platform/storage/store.ts";
import { mediaPath } from "../json/links.ts";
import { assetId, findAsset } from "./media-links.ts";
import { checkViewer, maxAgeSec, readFileQuery } from "./viewer-links.ts";

/**
 * Hands out waveform and storyboard by signed links. Always the bytes, never a bucket's own link: pages read the JSON
 * by script, which a bucket allows only where somebody has set that up.
 */
export function recordingAssetRoutes(
  app: FastifyInstance,
  { db, store, signer }: { readonly db: Database; readonly store: ObjectStore; readonly signer: LinkSigner },
): void {
  fileRoute(app, `${mediaPath}/:recording_id/files/:name`, async (request, reply) => {
    const params = request.params as { recording_id: string; name: string };
    const recordingId = Uuid.safeParse(params.recording_id).data?.toLowerCase();
    const asset = recordingId === undefined ? null : findAsset(recordingId, params.name);
    if (recordingId === undefined || asset === null) throw gone();
    const id = assetId(recordingId, params.name);
    const viewerId = readFileQuery(signer, "asset", id, request.query);
    await checkViewer(db.pool, { viewerId, recordingId, ip: request.ip });
    const info = await store.head(asset.key);
    if (info === null) throw gone();
    return serveObject(request, reply, {
      ...info,
      contentType: asset.contentType,
      maxAgeSec,
      open: async (range) => {
        try {
          return (await store.get(asset.key, range)).body;
        } catch (error) {
          // The object was removed since it was found.
          throw error instanceof ObjectMissingError ? gone() : error;
        }
      },
    });
  });
}

function gone(): ProblemError {
  return new ProblemError("not_found", "there is no such file; it may have been deleted");
}
