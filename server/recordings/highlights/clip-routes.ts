import type { FastifyInstance } from "fastify";
import { because } from "../../../contract/causes/causes.ts";
import { Uuid } from "../../../contract/common.ts";
import type { View } from "../../people/access/viewer.ts";
import type { Config } from "../../platform/config/config.ts";
import type { LinkSigner } from "../../platform/crypto/link-signer.ts";
import type { Database } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { fileRoute } from "../../platform/http/files/file-route.ts";
import { serveObject } from "../../platform/http/files/serve-object.ts";
import { watch } from "../../platform/http/files/watch-access.ts";
import { ObjectMissingError, type ObjectStore } from "../../platform/storage/store.ts";
import { clipPrefix, findClipOf } from "../public-link-records/clips.ts";
import { highlightMediaPath } from "../recordings/json/highlight.ts";
import { contentTypes, downloadName } from "../recordings/media/media.ts";
import { checkViewer, fileQuery, maxAgeSec, readFileQuery } from "../recordings/media/viewer-links.ts";
import type { ViewLog } from "../recordings/view-log.ts";

/** The id that a clip's URL is signed over. */
export const signedClip = (highlightId: string): string => `${highlightId}/clip`;

/** A URL of the highlight's clip that works until it expires, or until the viewer can no longer see the recording. */
export function clipUrl(
  { signer, config }: { readonly signer: LinkSigner; readonly config: Pick<Config, "baseUrl"> },
  highlightId: string,
  viewerId: string,
  expiresAt: Date,
): string {
  const query = fileQuery(signer, "asset", signedClip(highlightId), viewerId, expiresAt);
  return `${config.baseUrl}${highlightMediaPath}/${highlightId}/clip?${query}`;
}

/** Serves clips of highlights by signed URLs, as long as the viewer can see the recording. */
export function clipRoutes(
  app: FastifyInstance,
  deps: {
    readonly db: Database;
    readonly store: ObjectStore;
    readonly signer: LinkSigner;
    readonly views: ViewLog;
    readonly stillSees: (view: View) => Promise<boolean>;
  },
): void {
  const { db, store, signer, views, stillSees } = deps;
  fileRoute(app, `${highlightMediaPath}/:highlight_id/clip`, async (request, reply) => {
    const { highlight_id } = request.params as { highlight_id: string };
    const id = Uuid.safeParse(highlight_id).data?.toLowerCase();
    if (id === undefined) throw gone();
    const viewerId = readFileQuery(signer, "asset", signedClip(id), request.query);
    const clip = await findClipOf(db, id);
    if (clip === undefined || clip.format === null) throw gone();
    const { recording_id: recordingId, format } = clip;
    const view = { viewerId, recordingId, ip: request.ip };
    await checkViewer(db.pool, view);
    const key = `${clipPrefix(recordingId, clip.id)}media.${format}`;
    const info = await store.head(key);
    if (info === null) throw gone();
    if (request.method === "GET") await views.noteLink(request, clip.workspace_id, recordingId);
    watch(reply.raw, () => stillSees(view));
    return serveObject(request, reply, {
      ...info,
      contentType: contentTypes[format],
      fileName: downloadName({ title: clip.text, format }),
      maxAgeSec,
      open: async (range) => {
        try {
          return (await store.get(key, range)).body;
        } catch (error) {
          throw error instanceof ObjectMissingError ? gone() : error;
        }
      },
    });
  });
}

function gone(): ProblemError {
  return new ProblemError("not_found", because("clip_gone"));
}
