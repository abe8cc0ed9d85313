import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { call, type TestApp } from "../support/app.ts";
import { waitForRecording } from "../support/factories.ts";

/** The path of a file in test/fixtures/media. */
export function mediaFile(name: string): string {
  return fileURLToPath(new URL(`../fixtures/media/${name}`, import.meta.url));
}

/** Uploads a video of about ten seconds and waits for its recording. */
export async function makeVideo(app: TestApp, token: string, title: string): Promise<string> {
  const { body } = await call(
    app,
    "POST",
    "/uploads/create",
    { media_type: "video", attributes: { title } },
    { token },
  );
  const { url, headers } = body.media.upload;
  const answer = await fetch(url, {
    method: "PUT",
    body: readFileSync(mediaFile("good-faststart.mp4")),
    headers,
  });
  if (!answer.ok) throw new Error(`the file was refused: ${await answer.text()}`);
  return waitForRecording(app, token, body.id);
}

/** Creates a highlight. */
export async function makeClip(
  app: TestApp,
  token: string,
  recordingId: string,
  values: { text: string; timestamp?: number; duration?: number; tags?: string[] },
): Promise<string> {
  const { status, body, text } = await call(
    app,
    "POST",
    `/_/api/v1/recordings/${recordingId}/highlights`,
    { timestamp: 1000, duration: 2000, ...values },
    { token, version: null },
  );
  if (status !== 200) throw new Error(`the highlight was refused: ${text}`);
  return body.id;
}
