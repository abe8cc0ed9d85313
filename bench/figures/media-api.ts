import { rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { makePersonalToken, makeWorkspace } from "../data/people.ts";
import type { BenchDatabase, BenchPostgres } from "../database.ts";
import { type RunningServer, startParley } from "../servers.ts";
import { apiRequest, fetchBytes } from "./requests.ts";

/** A server with files in a local folder and an empty workspace. */
export interface MediaServer {
  readonly server: RunningServer;
  readonly data: BenchDatabase<{ token: string }>;
  /** Its data folder. */
  readonly folder: string;
  /** Removes all files of uploads and recordings. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

/** Address that links of the server name; it is reached at another, which nobody knows before it runs. */
const baseUrl = "http://localhost:3000";

/**
 * Starts a server with its own database.
 * @param role with `api` nothing happens to a file that has arrived.
 * @param special.prepare fills the data folder before the server starts.
 */
export async function startMediaServer(
  postgres: BenchPostgres,
  role: "api" | "all",
  special: {
    readonly name: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly prepare?: (dataDir: string) => Promise<void>;
  } = { name: role },
): Promise<MediaServer> {
  const data = await postgres.database(`parley_media_${special.name}`, "1", async (db) => {
    const { adminEmail } = await makeWorkspace(db, "Northwind", "northwind.example");
    return { token: await makePersonalToken(db, adminEmail) };
  });
  const folder = join(postgres.folder, `media_${special.name}`);
  await special.prepare?.(folder);
  const clear = async (): Promise<void> => {
    for (const name of ["uploads", "recordings"])
      await rm(join(folder, "objects", name), { recursive: true, force: true });
  };
  const server = await startParley({
    PARLEY_ROLE: role,
    PARLEY_DATABASE_URL: data.url,
    PARLEY_DATA_DIR: folder,
    PARLEY_BASE_URL: baseUrl,
    ...special.env,
  });
  const stop = async (): Promise<void> => {
    await server.stop();
    await clear();
  };
  return { server, data, folder, clear, stop };
}

/** Where a link leads on the server under test. */
function reach({ server }: MediaServer, link: string): string {
  if (!link.startsWith(baseUrl)) throw new Error(`${link} is no link to this server`);
  return server.url + link.slice(baseUrl.length);
}

async function ask(media: MediaServer, path: string, body: unknown): Promise<unknown> {
  const { bytes } = await fetchBytes(apiRequest(media.server, media.data.made.token, "POST", path, body));
  return JSON.parse(bytes.toString());
}

/** An upload that waits for its file. */
export interface WaitingUpload {
  readonly id: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Creates one, as a client does. */
export async function createUpload(media: MediaServer, mediaType: "video" | "audio"): Promise<WaitingUpload> {
  const { id, media: of } = (await ask(media, "/uploads/create", { media_type: mediaType })) as {
    id: string;
    media: { upload: { url: string; headers: Record<string, string> } };
  };
  return { id, url: reach(media, of.upload.url), headers: of.upload.headers };
}

/** How often an upload is asked for; what is measured by it is no more exact than that. */
const askEveryMs = 25;

/** Waits until an upload has become a recording. @returns the recording's id. */
export async function untilRecording(
  media: MediaServer,
  uploadId: string,
  timeoutMs: number,
): Promise<string> {
  for (const end = performance.now() + timeoutMs; performance.now() < end; await delay(askEveryMs)) {
    const upload = (await ask(media, `/uploads/${uploadId}`, {})) as {
      status: string;
      recording_id: string | null;
      failure?: { reason: string };
    };
    if (upload.failure !== undefined) throw new Error(`the upload failed: ${upload.failure.reason}`);
    if (upload.status === "success" && upload.recording_id !== null) return upload.recording_id;
  }
  throw new Error(`the upload was no recording after ${timeoutMs / 1000} s`);
}

/** A recording without a file: of words. */
export async function makeRecording(media: MediaServer): Promise<string> {
  const segment = { speaker_key: "a", start: 0, end: 1000, text: "Hello." };
  const { id } = (await ask(media, "/uploads/create", {
    media_type: "transcript",
    attributes: { title: "Words", transcript: { language: "en", segments: [segment] } },
  })) as { id: string };
  return untilRecording(media, id, 30_000);
}

/** The signed link that Download Recording leads to. */
export async function downloadLink(media: MediaServer, recordingId: string): Promise<string> {
  const { url, headers } = apiRequest(
    media.server,
    media.data.made.token,
    "GET",
    `/recordings/${recordingId}/download`,
  );
  const answer = await fetch(url, { headers, redirect: "manual" });
  const text = await answer.text();
  const link = answer.headers.get("location");
  if (answer.status !== 302 || link === null) throw new Error(`${url} returned ${answer.status}: ${text}`);
  return reach(media, link);
}
