import { randomUUIDv7 } from "node:crypto";
import type { LinkPurpose } from "../../server/links/signer.ts";
import { assetId } from "../../server/recording-data/media-links.ts";
import { recordingObjectKey } from "../../server/storage/layout.ts";
import type { DoorCaller } from "./callers.ts";
import type { DoorAsk, MakeDoorAsks } from "./door-ask.ts";
import { marker, type World } from "./world.ts";

/** Requests for what is handed out, or taken, by signed links. */
export const linkRequests: Readonly<Record<string, MakeDoorAsks>> = {
  "GET /_/media/recordings/:recording_id/media": async (world, caller) => {
    await world.withMedia();
    const id = await withFile(world, "media.mp3");
    return signed(world, caller, { purpose: "media", id, path: `/_/media/recordings/${id}/media` });
  },
  "GET /_/media/recordings/:recording_id/thumbnail.jpg": async (world, caller) => {
    const id = await withFile(world, "thumbnail.jpg");
    return signed(world, caller, {
      purpose: "thumbnail",
      id,
      path: `/_/media/recordings/${id}/thumbnail.jpg`,
    });
  },
  "GET /_/media/recordings/:recording_id/files/:name": async (world, caller) => {
    const id = await withFile(world, "waveform.json");
    const path = `/_/media/recordings/${id}/files/waveform.json`;
    return signed(world, caller, { purpose: "asset", id: assetId(id, "waveform.json"), path });
  },
  "GET /_/media/highlights/:highlight_id/thumbnail.jpg": async (world, caller) => {
    const id = await world.highlight();
    return signed(world, caller, {
      purpose: "thumbnail",
      id,
      path: `/_/media/highlights/${id}/thumbnail.jpg`,
    });
  },

  "PUT /_/media/uploads/:upload_id": async (world, caller) => {
    const id = await world.audioUpload();
    const link = { purpose: "upload", id, path: `/_/media/uploads/${id}` } as const;
    return signed(world, caller, link, { headers: { "if-none-match": "*" }, body: Buffer.from("sound") });
  },
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

interface Link {
  readonly purpose: LinkPurpose;
  readonly id: string;
  readonly path: string;
}

/** The address with the signature that a caller has. */
function signed(
  { app }: World,
  caller: DoorCaller,
  { purpose, id, path }: Link,
  request: Omit<DoorAsk, "path"> = {},
): DoorAsk[] {
  const soon = new Date(Date.now() + 3_600_000);
  const sign = (...args: Parameters<typeof app.signer.query>) => `?${app.signer.query(...args)}`;
  const queries: Readonly<Record<DoorCaller, readonly string[]>> = {
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

/** A request of an upload in pieces, which has begun already unless beginning is what is asked. */
async function resumable(
  world: World,
  caller: DoorCaller,
  request: Omit<DoorAsk, "path">,
): Promise<DoorAsk[]> {
  const id = await world.audioUpload();
  const link = { purpose: "resume", id, path: `/_/media/resumable/${id}` } as const;
  const tus = { "tus-resumable": "1.0.0" };
  const isBeginning = request.headers?.["upload-length"] !== undefined;
  // Who has begun may go on with a link that has expired meanwhile; that one is of an upload nobody has begun.
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

/** Puts a file of the recording into the store. @returns the recording's id. */
async function withFile({ app, recordingId }: World, name: string): Promise<string> {
  await app.store.put(recordingObjectKey(recordingId, name), Buffer.from(`"${marker}"`));
  return recordingId;
}
