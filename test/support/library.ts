import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Answer, call } from "./call.ts";
import { parley, runParley, type ServerProcess } from "./server-process.ts";
import { until } from "./until.ts";

/** What a transcript upload contains: text that a copy of the database could damage. */
export const segments = Array.from({ length: 50 }, (_, index) => ({
  speaker_key: `s${index % 3}`,
  start: index * 2000,
  end: index * 2000 + 1900,
  text: `Segment ${index}: "quotes", a tab\t, a backslash \\N and größere Wörter.`,
}));

/** A small recording. */
export const mediaFile = readFileSync(new URL("../fixtures/media/good-cbr.mp3", import.meta.url));

interface Page {
  readonly recordings: readonly { id: string; title: string; media_type: string }[];
  readonly cursor: string | null;
}

/** A user of a server and the recordings they create and read. */
export interface Library {
  readonly token: string;
  /** Creates a recording of a transcript. */
  upload(title: string): Promise<void>;
  /** Uploads a real file. @returns the id of its recording. */
  uploadMedia(): Promise<string>;
  /** The recording of an upload, once it exists. */
  recordingOf(uploadId: string): Promise<string>;
  /** The titles of all recordings. */
  titles(from?: ServerProcess): Promise<string[]>;
  /** What an API reader sees of every recording: its JSON, its transcript and the digest of its file, by title and id. */
  readAll(from?: ServerProcess): Promise<Map<string, string>>;
}

/** Creates a workspace with a user and a token. */
export async function createLibrary(server: ServerProcess): Promise<Library> {
  const email = "a@harbour.example";
  const workspace = await parley(server, "workspace", "create", "--name", "Harbour");
  await parley(server, "user", "create", "--email", email, "--name", "A", "--workspace", workspace);
  const token = await parley(server, "token", "create", "--email", email);

  const recordingOf = (uploadId: string): Promise<string> =>
    until("the file is a recording", async () => {
      const { body } = await call(server, "POST", `/uploads/${uploadId}`, {}, { token });
      assert.notEqual(body.status, "failure", body.failure?.reason);
      return body.recording_id ?? undefined;
    });

  /** All recordings, page by page. */
  async function* listAll(from: ServerProcess): AsyncGenerator<Page["recordings"][number]> {
    let cursor: string | null = null;
    do {
      const { body }: Answer<Page> = await call(
        from,
        "POST",
        "/recordings",
        cursor === null ? {} : { cursor },
        { token },
      );
      yield* body.recordings;
      cursor = body.cursor;
    } while (cursor !== null);
  }

  return {
    token,
    recordingOf,
    async titles(from = server) {
      const titles: string[] = [];
      for await (const { title } of listAll(from)) titles.push(title);
      return titles;
    },
    async upload(title) {
      const attributes = { title, transcript: { language: "en", segments } };
      const { status, text } = await call(
        server,
        "POST",
        "/uploads/create",
        { media_type: "transcript", attributes },
        { token },
      );
      assert.equal(status, 200, text);
    },
    async uploadMedia() {
      const { body } = await call(server, "POST", "/uploads/create", { media_type: "audio" }, { token });
      const { url, headers } = body.media.upload;
      const sent = await fetch(url, { method: "PUT", body: mediaFile, headers });
      assert.ok(sent.ok, await sent.text());
      return recordingOf(body.id);
    },
    async readAll(from = server) {
      const seen = new Map<string, string>();
      const sha256 = (data: Buffer | string): string => createHash("sha256").update(data).digest("hex");
      for await (const recording of listAll(from)) {
        const [transcript, media] = await Promise.all([
          call(from, "GET", `/recordings/${recording.id}/transcript`, undefined, { token }),
          recording.media_type === "transcript"
            ? null
            : fetch(`${from.url}/_/public-api/v2/recordings/${recording.id}/download`, {
                headers: { authorization: `Bearer ${token}`, "public-api-version": "2026-10-01" },
              }).then(async (response) => Buffer.from(await response.arrayBuffer())),
        ]);
        const file = media === null ? "" : sha256(media);
        seen.set(
          `${recording.title} ${recording.id}`,
          `${file} ${sha256(transcript.text)} ${JSON.stringify(recording).replaceAll(/http:\/\/localhost:\d+/g, "http://server")}`,
        );
      }
      return seen;
    },
  };
}

/** Runs a command that is expected to fail. @returns what it printed on standard error. */
export async function failing(...command: Parameters<typeof parley>): Promise<string> {
  return (await failureOf(...command)).stderr;
}

/** Runs a command that is expected to fail before it has any result. @returns its error. */
export async function refused(...command: Parameters<typeof parley>): Promise<string> {
  const { stdout, stderr } = await failureOf(...command);
  assert.equal(stdout, "");
  return stderr.trim();
}

/** Runs a command that is expected to fail. @returns what it printed, and its exit status. */
export async function failureOf(...[server, ...args]: Parameters<typeof parley>) {
  const result = await runParley(server, ...args);
  assert.notEqual(result.code, 0, `parley ${args.join(" ")} succeeded`);
  return result;
}
