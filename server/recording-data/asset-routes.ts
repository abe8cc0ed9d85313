import type { FastifyInstance } from "fastify";
import { Uuid } from "../../contract/common.ts";
import { ProblemError } from "../http/problem.ts";
import { serveObject } from "../http/serve-object.ts";
import { refuseLink } from "../links/read-link.ts";
import type { LinkSigner } from "../links/signer.ts";
import { mediaPath } from "../recordings/links.ts";
import { ObjectMissingError, type ObjectStore } from "../storage/store.ts";
import { assetId, findAsset } from "./media-links.ts";

/** Files of recordings never change. */
const maxAgeSec = 3600;

/**
 * Hands out waveform and storyboard by signed links. Always the bytes, never a bucket's own link: pages read the JSON
 * by script, which a bucket allows only where somebody has set that up.
 */
export function recordingAssetRoutes(
  app: FastifyInstance,
  { store, signer }: { readonly store: ObjectStore; readonly signer: LinkSigner },
): void {
  app.route({
    method: ["GET", "HEAD"],
    url: `${mediaPath}/:recording_id/files/:name`,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const params = request.params as { recording_id: string; name: string };
      const recordingId = Uuid.safeParse(params.recording_id).data?.toLowerCase();
      const asset = recordingId === undefined ? null : findAsset(recordingId, params.name);
      if (recordingId === undefined || asset === null) throw gone();
      refuseLink(signer.check("asset", assetId(recordingId, params.name), request.query, new Date()));
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
            // It has been removed since it was looked at.
            throw error instanceof ObjectMissingError ? gone() : error;
          }
        },
      });
    },
  });
}

function gone(): ProblemError {
  return new ProblemError("not_found", "the file is not here");
}
