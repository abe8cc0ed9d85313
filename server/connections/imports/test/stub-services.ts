import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

const fixture = (name: string): Buffer =>
  readFileSync(fileURLToPath(new URL(`../../../../test/fixtures/media/${name}`, import.meta.url)));

/** Files that the stub returns, by name. */
const files: Readonly<Record<string, { readonly type: string; readonly body: Buffer }>> = {
  "video.mp4": { type: "video/mp4", body: fixture("good-faststart.mp4") },
  "small.mp4": { type: "video/mp4", body: fixture("bad-short.mp4") },
  "audio.mp3": { type: "audio/mpeg", body: fixture("good-cbr.mp3") },
  "transcript.vtt": {
    type: "text/vtt",
    body: Buffer.from(
      "WEBVTT\n\n1\n00:00:01.000 --> 00:00:02.000\nAda Lovelace: Hello everybody\n\n2\n00:00:03.000 --> 00:00:04.000\nCharles Babbage: Good morning\n",
    ),
  },
  // Of a meeting in which nobody spoke.
  "empty.vtt": { type: "text/vtt", body: Buffer.from("WEBVTT\n") },
  "one-bad-cue.vtt": {
    type: "text/vtt",
    body: Buffer.from(
      "WEBVTT\n\n00:00:02.000 --> 00:00:01.000\nLost\n\n00:00:03.000 --> 00:00:04.000\nZoë: Grüße\n",
      "utf16le",
    ),
  },
};

export const downloadToken = "download token of the event";
const oauthToken = "token by OAuth";
export const apiKey = "key of the API";

/** What goes wrong, until it is set again. */
interface Failures {
  /** Refuses download tokens of events, as after 24 hours. */
  expiredTokens?: boolean;
  /** Downloads that end early. */
  brokenBodies?: number;
  /** How many downloads of media have to be open before one of them gets its second half. */
  together?: number;
  /** Another place that downloads redirect to. */
  redirect?: string | null;
}

export interface StubServices {
  readonly url: string;
  failures: Failures;
  /** Paths of all requests. */
  readonly requests: string[];
  /** Credentials that arrived where none belong. */
  readonly leaks: string[];
  /** Sends the rest of downloads that are held back. */
  readonly held: (() => void)[];
}

/**
 * A server that responds as the APIs of Zoom, Attendee and Vexa do, as far as their documentation says. Its files come
 * from another host, as theirs do: that of its URL is 127.0.0.1, that of the files localhost.
 */
export async function startStubServices(hostEmail: string): Promise<StubServices> {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "", stub.url);
    stub.requests.push(url.pathname);
    const found = respond(stub, hostEmail, url, request, response);
    if (!found) json(response, 404, { message: "not found" });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const stub: StubServices = {
    url: `http://127.0.0.1:${port}`,
    failures: {},
    requests: [],
    leaks: [],
    held: [],
  };
  return stub;
}

function respond(
  stub: StubServices,
  hostEmail: string,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const { pathname } = url;
  if (pathname.startsWith("/files/")) return sendFile(stub, pathname, request, response);
  const { authorization = "", "x-api-key": key } = request.headers;
  const zoom = zoomResponse(stub, hostEmail, url, authorization);
  const other = authorization === `Token ${apiKey}` || key === apiKey ? botResponse(stub, pathname) : null;
  const found = zoom ?? other;
  if (found === null) return false;
  if ("location" in found) response.writeHead(302, { location: String(found.location) }).end();
  else json(response, "status" in found && typeof found.status === "number" ? found.status : 200, found);
  return true;
}

function zoomResponse(
  { failures, url: own }: StubServices,
  hostEmail: string,
  { pathname, searchParams }: URL,
  authorization: string,
): object | null {
  if (pathname === "/oauth/token") {
    const isRight =
      searchParams.get("grant_type") === "account_credentials" &&
      searchParams.get("account_id") === "account" &&
      authorization === `Basic ${Buffer.from("client:secret").toString("base64")}`;
    return isRight
      ? { access_token: oauthToken, token_type: "bearer", expires_in: 3599 }
      : { status: 400, reason: "Invalid client_id or client_secret", error: "invalid_client" };
  }
  const isOauth = authorization === `Bearer ${oauthToken}`;
  if (pathname.startsWith("/v2/past_meetings/") && isOauth)
    return searchParams.get("next_page_token") === null
      ? { participants: [{ name: "Ada Lovelace", user_email: hostEmail }], next_page_token: "2" }
      : {
          participants: [{ name: "Charles Babbage", user_email: "charles@elsewhere.example" }],
          next_page_token: "",
        };
  if (!pathname.startsWith("/rec/download/")) return null;
  const isOwn = authorization === `Bearer ${downloadToken}` && !failures.expiredTokens;
  if (!isOwn && !isOauth) return { status: 401, message: "Invalid access token." };
  const files = own.replace("127.0.0.1", "localhost");
  return { location: failures.redirect ?? `${files}/files/${pathname.split("/").at(-1)}` };
}

function botResponse({ url }: StubServices, pathname: string): object | null {
  const files = url.replace("127.0.0.1", "localhost");
  const start = Date.parse("2026-05-06T07:08:09Z");
  const responses: Record<string, object> = {
    "/api/v1/bots/bot_1": {
      ...{ id: "bot_1", meeting_url: "https://meet.google.com/abc-defg-hij", state: "ended" },
      ...{ transcription_state: "complete", recording_state: "complete", events: [] },
    },
    "/api/v1/bots/bot_1/recording": {
      url: `${files}/files/video.mp4?X-Amz-Signature=1`,
      start_timestamp_ms: start,
    },
    "/api/v1/bots/bot_1/transcript": [
      {
        ...{
          speaker_name: "Ada Lovelace",
          speaker_uuid: "1",
          speaker_user_uuid: null,
          speaker_is_host: true,
        },
        ...{
          timestamp_ms: start + 1000,
          duration_ms: 1500,
          transcription: { transcript: "Hello everybody" },
        },
      },
      // The bot could not name these two.
      ...["2", "3"].map((speaker_uuid, index) => ({
        ...{ speaker_name: null, speaker_uuid, timestamp_ms: start + 2000 + index * 1000 },
        ...{ duration_ms: 500, transcription: { transcript: "Hm." } },
      })),
    ],
    "/api/v1/bots/bot_1/participants": {
      ...{ next: null, previous: null },
      results: [{ id: "par_1", name: "Ada Lovelace", uuid: "1", user_uuid: null, is_host: true }],
    },
    "/transcripts/by-id/42": {
      ...{ id: 42, platform: "google_meet", native_meeting_id: "abc", status: "completed" },
      ...{ start_time: "2026-05-06T07:08:09Z", recordings: [{ id: 7 }] },
      segments: [
        { speaker: "Ada Lovelace", text: "Draft", start: 1, end: 2, completed: false },
        { speaker: "Ada Lovelace", text: "Hello everybody", start: 1, end: 2.5, completed: true },
      ],
    },
    "/recordings/7/master": { raw_url: "/recordings/7/media/8/raw" },
    "/recordings/7/media/8/raw": { location: `${files}/files/audio.mp3` },
    "/meetings/google_meet/abc/participants": {
      participants: [
        { name: "Ada Lovelace", email: "ada@elsewhere.example", source: "invite" },
        { name: "Ada Lovelace", email: null, source: "speaker" },
      ],
    },
  };
  return responses[pathname] ?? null;
}

function sendFile(
  stub: StubServices,
  pathname: string,
  { headers }: IncomingMessage,
  response: ServerResponse,
): boolean {
  const file = files[pathname.slice("/files/".length)];
  if (file === undefined) return false;
  for (const name of ["authorization", "x-api-key"]) if (headers[name] !== undefined) stub.leaks.push(name);
  response.writeHead(200, { "content-type": file.type, "content-length": file.body.length });
  const left = stub.failures.brokenBodies ?? 0;
  if (file.type === "text/vtt") {
    response.end(file.body);
    return true;
  }
  if (stub.failures.together !== undefined) {
    response.write(file.body.subarray(0, file.body.length >> 1));
    stub.held.push(() => response.end(file.body.subarray(file.body.length >> 1)));
    if (stub.held.length >= stub.failures.together) for (const finish of stub.held.splice(0)) finish();
    return true;
  }
  if (left === 0) {
    response.end(file.body);
    return true;
  }
  stub.failures.brokenBodies = left - 1;
  response.write(file.body.subarray(0, file.body.length >> 1));
  setImmediate(() => response.destroy());
  return true;
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
