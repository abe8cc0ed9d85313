import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { RunningServer } from "../servers.ts";
import { apiRequest, fetchBytes } from "./requests.ts";

/** A user of the server under test. */
export interface Client {
  readonly server: RunningServer;
  readonly token: string;
}

const send = async <T>({ server, token }: Client, path: string, body: unknown): Promise<T> =>
  JSON.parse((await fetchBytes(apiRequest(server, token, "POST", path, body))).bytes.toString());

/** The user's recordings, the newest first. */
export async function listRecordings(client: Client): Promise<readonly { readonly id: string }[]> {
  return (await send<{ recordings: { id: string }[] }>(client, "/recordings", {})).recordings;
}

/** Uploads a video. @param attributes of the recording it becomes. */
export async function sendVideo(client: Client, file: string | URL, attributes: unknown): Promise<void> {
  const { media } = await send<{ media: { upload: { url: string; headers: Record<string, string> } } }>(
    client,
    "/uploads/create",
    { media_type: "video", attributes },
  );
  const { url, headers } = media.upload;
  const sent = await fetch(url, { method: "PUT", headers, body: readFileSync(file) });
  if (!sent.ok) throw new Error(`the video was refused: ${await sent.text()}`);
}

/** Waits until so many uploads have become recordings. @returns the id of the newest. */
export async function untilRecordings(client: Client, count: number): Promise<string> {
  for (const end = performance.now() + 120_000; performance.now() < end; await delay(200)) {
    const recordings = await listRecordings(client);
    if (recordings.length === count && recordings[0] !== undefined) return recordings[0].id;
  }
  throw new Error("the videos did not become recordings within two minutes");
}
