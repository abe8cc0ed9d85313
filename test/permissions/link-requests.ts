import { randomUUIDv7 } from "node:crypto";
import type { LinkPurpose } from "../../server/platform/crypto/link-signer.ts";
import { recordingObjectKey } from "../../server/platform/storage/layout.ts";
import { signedClip } from "../../server/recordings/highlights/clip-routes.ts";
import { assetId } from "../../server/recordings/recordings/media/media-links.ts";
import { fileQuery, thumbnailQuery } from "../../server/recordings/recordings/media/viewer-links.ts";
import type { RouteCaller } from "./callers.ts";
import type { BuildRouteRequests, RouteRequest } from "./route-request.ts";
import { marker, type World } from "./world.ts";

/** Requests to routes with signed links. */
export const linkRequests: Readonly<Record<string, BuildRouteRequests>> = {
  "GET /_/media/recordings/:recording_id/media": async (world, caller) => {
    await world.withMedia();
    const id = await withFile(world, "media.mp3");
    return signedForViewer(
      await recorderOf(world),
      caller,
      `/_/media/recordings/${id}/media`,
      (of, viewer, at) => fileQuery(world.app.signer, "media", of ?? id, viewer, at),
    );
  },
  "GET /_/media/recordings/:recording_id/thumbnail.jpg": async (world, caller) => {
    const id = await withFile(world, "thumbnail.jpg");
    return signedForViewer(
      await recorderOf(world),
      caller,
      `/_/media/recordings/${id}/thumbnail.jpg`,
      (of, viewer) => thumbnailQuery(world.app.signer, of ?? id, viewer),
    );
  },
  "GET /_/media/recordings/:recording_id/files/:name": async (world, caller) => {
    const id = await withFile(world, "waveform.json");
    const path = `/_/media/recordings/${id}/files/waveform.json`;
    return signedForViewer(await recorderOf(world), caller, path, (of, viewer, at) =>
      fileQuery(world.app.signer, "asset", assetId(of ?? id, "waveform.json"), viewer, at),
    );
  },
  "GET /_/media/highlights/:highlight_id/thumbnail.jpg": async (world, caller) => {
    const id = await world.highlight();
    return signedForViewer(
      await recorderOf(world),
      caller,
      `/_/media/highlights/${id}/thumbnail.jpg`,
      (of, viewer) => thumbnailQuery(world.app.signer, of ?? id, viewer),
    );
  },
  "GET /_/media/highlights/:highlight_id/clip": async (world, caller) => {
    const id = await world.highlightWithClip();
    return signedForViewer(
      await recorderOf(world),
      caller,
      `/_/media/highlights/${id}/clip`,
      (of, viewer, at) => fileQuery(world.app.signer, "asset", signedClip(of ?? id), viewer, at),
    );
  },

  "PUT /_/media/uploads/:upload_id": async (world, caller) => {
    const id = await world.audioUpload();
    const link = { purpose: "upload", id, path: `/_/media/uploads/${id}` } as const;
    return signed(world, caller, link, { headers: { "if-none-match": "*" }, body: Buffer.from("sound") });
  },
  "OPTIONS /_/media/recordings/:recording_id/media": () => preflight("recordings", "media"),
  "OPTIONS /_/media/recordings/:recording_id/thumbnail.jpg": () => preflight("recordings", "thumbnail.jpg"),
  "OPTIONS /_/media/recordings/:recording_id/files/:name": () =>
    preflight("recordings", "files/waveform.json"),
  "OPTIONS /_/media/highlights/:highlight_id/thumbnail.jpg": () => preflight("highlights", "thumbnail.jpg"),
  "OPTIONS /_/media/highlights/:highlight_id/clip": () => preflight("highlights", "clip"),
  "OPTIONS /_/media/uploads/:upload_id": () => ({ path: `/_/media/uploads/${randomUUIDv7()}` }),
  "POST /_/media/resumable/:upload_id": (world, caller) =>
    resumable(world, caller, { headers: { "upload-length": "5" } }),
  "HEAD /_/media/resumable/:upload_id": (world, caller) => resumable(world, caller, {}),
  "PATCH /_/media/resumable/:upload_id": (world, caller) =>
    resumable(world, caller, {
      headers: { "upload-offset": "0", "content-type": "application/offset+octet-stream" },
      body: Buffer.from("sound"),
    }),
  "DELETE /_/media/resumable/:upload_id": (world, caller) => resumable(world, caller, {}),
  "OPTIONS /_/media/resumable/:upload_id": () => ({ path: `/_/media/resumable/${randomUUIDv7()}` }),
};

const preflight = (kind: string, file: string) => ({ path: `/_/media/${kind}/${randomUUIDv7()}/${file}` });

interface Link {
  readonly purpose: LinkPurpose;
  readonly id: string;
  readonly path: string;
}

/** The path with the caller's signature. */
function signed(
  { app }: World,
  caller: RouteCaller,
  { purpose, id, path }: Link,
  request: Omit<RouteRequest, "path"> = {},
): RouteRequest[] {
  const soon = new Date(Date.now() + 3_600_000);
  const sign = (...args: Parameters<typeof app.signer.query>) => `?${app.signer.query(...args)}`;
  const queries: Readonly<Record<RouteCaller, readonly string[]>> = {
    anonymous: [""],
    session: [""],
    token: [""],
    wrong: [
      sign(purpose, randomUUIDv7(), soon),
      sign(purpose === "media" ? "thumbnail" : "media", id, soon),
      sign(purpose, id, soon).replace(/expires=\d/, "expires=9"),
    ],
    expired: [sign(purpose, id, new Date(Date.now() - 1000))],
    right: [sign(purpose, id, soon)],
  };
  return queries[caller].map((query) => ({ ...request, path: path + query }));
}

/** The recording's recorder. */
async function recorderOf({ app, recordingId }: World): Promise<string> {
  const { rows } = await app.db.pool.query(
    "select user_id from recording_recorders where recording_id = $1 limit 1",
    [recordingId],
  );
  return rows[0].user_id;
}

/**
 * The URL of a recording's file as a caller has it.
 * @param query for another id than the file's, or for the file's; for this viewer, until then.
 */
function signedForViewer(
  viewerId: string,
  caller: RouteCaller,
  path: string,
  query: (otherId: string | null, viewerId: string, expiresAt: Date) => string,
): RouteRequest[] {
  const soon = new Date(Date.now() + 3_600_000);
  const past = new Date(Date.now() - 1000);
  const good = query(null, viewerId, soon);
  const queries: Readonly<Record<RouteCaller, readonly string[]>> = {
    anonymous: [""],
    session: [""],
    token: [""],
    wrong: [
      query(randomUUIDv7(), viewerId, soon),
      good.replace(viewerId, randomUUIDv7()),
      good.replace(/signature=./, "signature=x"),
    ],
    // The URL of a thumbnail does not expire, except ends for a viewer who does not see the recording.
    expired: [
      query(null, viewerId, past) === good ? query(null, randomUUIDv7(), soon) : query(null, viewerId, past),
    ],
    right: [good],
  };
  return queries[caller].map((text) => ({ path: `${path}?${text}` }));
}

/** A request of a resumable upload, which is started first unless the request starts it. */
async function resumable(
  world: World,
  caller: RouteCaller,
  request: Omit<RouteRequest, "path">,
): Promise<RouteRequest[]> {
  const id = await world.audioUpload();
  const link = { purpose: "resume", id, path: `/_/media/resumable/${id}` } as const;
  const tus = { "tus-resumable": "1.0.0" };
  const isBeginning = request.headers?.["upload-length"] !== undefined;
  // A started upload may continue after its link has expired, so the expired link is of an upload not started.
  if (!isBeginning && caller !== "expired") {
    const [begin] = signed(world, "right", link);
    const begun = await fetch(world.app.url + begin?.path, {
      method: "POST",
      headers: { ...tus, "upload-length": "5" },
    });
    if (begun.status !== 201) throw new Error(`could not begin: ${begun.status} ${await begun.text()}`);
  }
  return signed(world, caller, link, { ...request, headers: { ...tus, ...request.headers } });
}

/** Stores a file of the recording. @returns the recording's id. */
async function withFile({ app, recordingId }: World, name: string): Promise<string> {
  await app.store.put(recordingObjectKey(recordingId, name), Buffer.from(`"${marker}"`));
  return recordingId;
}
