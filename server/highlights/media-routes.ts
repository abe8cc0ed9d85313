import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Uuid } from "../../contract/common.ts";
import type { Database } from "../db/database.ts";
import { ProblemError } from "../http/problem.ts";
import { serveObject } from "../http/serve-object.ts";
import type { LinkSigner } from "../links/signer.ts";
import { highlightMediaPath } from "../recordings/recording-json.ts";
import { recordingObjectKey } from "../storage/layout.ts";
import type { ObjectStore } from "../storage/store.ts";
import { cutTile, neutralPicture, readObject } from "./picture.ts";
import { findHighlightPicture, type HighlightPictureRow } from "./queries.ts";

/** How long a browser may keep a picture: the start of a highlight can be moved. */
const maxAgeSec = 300;

/** Hands out the pictures of highlights to whoever has a signed link; there is one for every highlight. */
export function highlightMediaRoutes(
  app: FastifyInstance,
  deps: { readonly db: Database; readonly store: ObjectStore; readonly signer: LinkSigner },
): void {
  const { db, store, signer } = deps;

  app.route({
    method: ["GET", "HEAD"],
    url: `${highlightMediaPath}/:highlight_id/thumbnail.jpg`,
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const row = await findHighlightPicture(db.pool, readLink(request));
      if (row === undefined)
        throw new ProblemError("not_found", "the picture is not here any more; its highlight was deleted");
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
    },
  });

  // What is made on the spot has no time of its own; the validator is its content.
  const startedAt = new Date();

  /** The highlight that the address names, if its signature is good. */
  function readLink(request: FastifyRequest): string {
    const id = Uuid.safeParse((request.params as { highlight_id: string }).highlight_id).data?.toLowerCase();
    if (id === undefined) throw new ProblemError("not_found", "nothing is here");
    const fault = signer.check("thumbnail", id, request.query, new Date());
    if (fault === "invalid")
      throw new ProblemError("link_invalid", "the signature of this address is missing or wrong");
    if (fault === "expired")
      throw new ProblemError("link_expired", "this link has expired; ask for a new one");
    return id;
  }

  /** The moment the highlight begins, else the picture of the recording, else a neutral one. */
  async function findPicture(request: FastifyRequest, row: HighlightPictureRow): Promise<Buffer> {
    try {
      const tile = row.has_storyboard ? await cutTile(store, row.recording_id, row.start_ms) : null;
      if (tile !== null) return tile;
    } catch (error) {
      // A picture of the recording is better than none.
      request.log.warn({ err: error, recordingId: row.recording_id }, "could not cut the storyboard");
    }
    const whole = row.has_thumbnail
      ? await readObject(store, recordingObjectKey(row.recording_id, "thumbnail.jpg"))
      : null;
    return whole ?? neutralPicture;
  }
}
