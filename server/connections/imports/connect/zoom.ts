import { Readable } from "node:stream";
import { z } from "zod";
import type { PortableEntry } from "../../../../contract/recordings/portable.ts";
import { sentenceOf, sentences } from "../../../../contract/sentences.ts";
import type { MediaFormat } from "../../../../shared/files/media-formats.ts";
import { foldCase } from "../../../../shared/fold-case.ts";
import type { OutboundResponse } from "../../../platform/outbound/guarded-client.ts";
import { recordingOf } from "../sources/disk.ts";
import { RecordingError } from "../sources/errors.ts";
import type { SourceMedia, SourceRecording } from "../sources/source.ts";
import { readTranscript, request, requestJson, timeOf } from "./http.ts";
import { listOf } from "./list-of.ts";
import type { ConnectedService, ServiceAccess, ServiceTranscript, StoredEvent } from "./service.ts";
import { hmac, isRecent, isSame, parseJson } from "./signatures.ts";

/*
 * Zoom's cloud recordings. Sources of the formats: developers.zoom.us, "Using webhooks", "Recording completed",
 * "Recording transcript completed", "Get past meeting participants" and "Server-to-server OAuth".
 */

const Text = z.string().max(5000);

const File = z.object({
  recording_start: Text.catch(""),
  recording_end: Text.catch(""),
  file_type: Text.catch(""),
  file_extension: Text.catch(""),
  download_url: Text,
  status: Text.catch("completed"),
  recording_type: Text.catch(""),
});
type ZoomFile = z.output<typeof File> & { readonly event: StoredEvent };

const Payload = z.object({
  uuid: z.string().min(1).max(200),
  topic: Text.catch(""),
  host_email: Text.nullish().catch(null),
  start_time: Text.nullish().catch(null),
  recording_files: listOf(File, 1000).catch([]),
});

const Event = z.object({
  event: z.enum(["recording.completed", "recording.transcript_completed"]),
  event_ts: z.number().catch(0),
  payload: z.object({ object: Payload }),
  download_token: Text.nullish().catch(null),
});

/** What is stored of an event. */
const Stored = Payload.extend({ download_token: Text.nullish() });

/**
 * Without a colon, unlike what Zoom signs: otherwise the response to a challenge that is not from Zoom could serve as the
 * signature of an event.
 */
const Challenge = z.object({
  event: z.literal("endpoint.url_validation"),
  payload: z.object({ plainToken: z.string().regex(/^[\w+/=-]{1,200}$/) }),
});

/** Download tokens are valid for 24 hours. */
const tokenMs = 24 * 3_600_000;

/** From the best rendition to the least; captions burnt in come after the same without them. */
const renditions = [
  "shared_screen_with_speaker_view",
  "shared_screen_with_gallery_view",
  "active_speaker",
  "speaker_view",
  "gallery_view",
  "shared_screen",
  "audio_only",
];

export const zoom: ConnectedService = {
  label: "Zoom",
  isSigned({ headers, body }, secret, now) {
    const at = headers["x-zm-request-timestamp"];
    if (!isRecent(at, now)) return false;
    return isSame(headers["x-zm-signature"], `v0=${hmac(secret, `v0:${at}:`, body).toString("hex")}`);
  },
  challenge(body, secret) {
    const { plainToken } = Challenge.safeParse(parseJson(body)).data?.payload ?? {};
    if (plainToken === undefined) return null;
    return { plainToken, encryptedToken: hmac(secret, plainToken).toString("hex") };
  },
  read(body) {
    const parsed = Event.safeParse(parseJson(body));
    if (!parsed.success) return null;
    const { event: type, event_ts, payload, download_token } = parsed.data;
    const { uuid } = payload.object;
    return {
      ...{ type, id: `${type} ${event_ts} ${uuid}`, meetingId: uuid },
      payload: { ...payload.object, download_token } satisfies z.input<typeof Stored>,
    };
  },
  isTranscript: (type) => type === "recording.transcript_completed",
  load,
  loadTranscript: (access, event) => readTranscripts(access, filesOf(event), []),
};

function filesOf(event: StoredEvent): ZoomFile[] {
  return Stored.parse(event.payload).recording_files.map((file) => ({ ...file, event }));
}

async function load(
  access: ServiceAccess,
  event: StoredEvent,
  others: readonly StoredEvent[],
): Promise<(SourceRecording & Pick<ServiceTranscript, "notes">) | null> {
  const meeting = Stored.parse(event.payload);
  const files = [event, ...others].flatMap(filesOf).filter(({ status }) => status === "completed");
  const segments = bestSegments(files);
  const { entries, notes } = await readTranscripts(access, files, segments);
  if (segments.length === 0 && entries.length === 0) {
    if (notes.length > 0)
      throw new RecordingError(sentenceOf("event_transcript_unread", { reason: notes.join(" ") }));
    return null;
  }
  const host = meeting.host_email || null;
  const people = await findParticipants(access, meeting.uuid);
  const isListed = people.some(({ email }) => foldCase(email ?? "") === foldCase(host ?? ""));
  const source = recordingOf({
    id: meeting.uuid,
    title: meeting.topic,
    start: timeOf(segments[0]?.recording_start || meeting.start_time, event.receivedAt),
    durationMs: 0,
    people: host === null || isListed ? people : [{ name: "", email: host }, ...people],
    recorderEmail: host,
    entries,
    media: null,
    source: "zoom",
  });
  return { ...source, notes, openMedia: segments.length === 0 ? null : () => openMedia(access, segments) };
}

/**
 * The best file of each segment in order; there are several segments when the recording was stopped and started again,
 * perhaps in another view. Sound alone is taken only if no segment has a video.
 */
function bestSegments(files: readonly ZoomFile[]): readonly ZoomFile[] {
  const ofType = (type: string) => files.filter(({ file_type }) => file_type === type);
  const media = ofType("MP4").length > 0 ? ofType("MP4") : ofType("M4A");
  const best: ZoomFile[] = [];
  for (const file of media.toSorted((a, b) => rankOf(a) - rankOf(b)))
    if (!best.some((other) => isOfOneTime(file, other))) best.push(file);
  return best.toSorted((a, b) => startOf(a) - startOf(b));
}

/** Whether two files are of one segment. */
function isOfOneTime(a: ZoomFile, b: ZoomFile): boolean {
  const [first, second] = startOf(a) <= startOf(b) ? [a, b] : [b, a];
  return startOf(first) === startOf(second) || startOf(second) < startOf(first) + lengthOf(first);
}

function rankOf({ recording_type: type, file_type }: ZoomFile): number {
  const isCaptioned = type.endsWith("(CC)");
  const rank = renditions.indexOf(isCaptioned ? type.slice(0, -4) : type);
  if (rank === -1) return file_type === "MP4" ? renditions.length * 2 - 3 : renditions.length * 2;
  return rank * 2 + (isCaptioned ? 1 : 0);
}

const startOf = (file: ZoomFile): number => timeOf(file.recording_start, new Date(0)).getTime();

const lengthOf = (file: ZoomFile): number =>
  Math.max(0, timeOf(file.recording_end, new Date(0)).getTime() - startOf(file));

/** Reads the transcripts of all segments, each from where its segment begins in the joined recording. */
async function readTranscripts(
  access: ServiceAccess,
  files: readonly ZoomFile[],
  segments: readonly ZoomFile[],
): Promise<ServiceTranscript> {
  const ofType = (type: string) => files.filter(({ file_type }) => file_type === type);
  const all = ofType("TRANSCRIPT").length > 0 ? ofType("TRANSCRIPT") : ofType("CC");
  // Two events may name the same file.
  const transcripts = [...new Map(all.map((file) => [startOf(file), file])).values()];
  const timeline = segments.length > 0 ? segments : transcripts;
  const entries: PortableEntry[] = [];
  const notes = new Set<string>();
  for (const file of transcripts.toSorted((a, b) => startOf(a) - startOf(b))) {
    const earlier = timeline.filter((one) => startOf(one) < startOf(file));
    const offsetMs = earlier.reduce((sum, one) => sum + lengthOf(one), 0);
    const read = await readTranscript(await download(access, file), offsetMs);
    for (const entry of read.entries) entries.push(entry);
    for (const note of read.notes) notes.add(note);
  }
  return { entries, notes: [...notes] };
}

async function openMedia(access: ServiceAccess, segments: readonly ZoomFile[]): Promise<SourceMedia> {
  const [first] = segments;
  const format: MediaFormat = first?.file_type === "M4A" ? "m4a" : "mp4";
  if (first !== undefined && segments.length === 1)
    return { format, body: (await download(access, first)).body };
  const parts: { bytes: number }[] = [];
  for (const segment of segments) {
    const { headers, body } = await download(access, segment);
    body.destroy();
    const bytes = Number(headers["content-length"]);
    if (!(bytes > 0)) throw new RecordingError(sentences.zoom_no_size);
    parts.push({ bytes });
  }
  const body = Readable.from(
    (async function* () {
      for (const segment of segments) yield* (await download(access, segment)).body;
    })(),
    { objectMode: false },
  );
  return { format, body, parts };
}

/** Opens a file with the token of its event, or else with one of the connection. */
async function download(access: ServiceAccess, file: ZoomFile): Promise<OutboundResponse> {
  const { event, download_url: url } = file;
  const { download_token: own } = Stored.parse(event.payload);
  const isValid = Date.now() - event.receivedAt.getTime() < tokenMs;
  if (own && isValid) {
    const response = await get(access, url, own);
    if (!isRefusal(response)) return response;
    response.body.destroy();
  }
  const token = await requestToken(access);
  if (token === null) throw new RecordingError(sentences.zoom_token);
  const response = await get(access, url, token);
  if (response.status < 300 && !isRefusal(response)) return response;
  response.body.destroy();
  throw new RecordingError(sentenceOf("zoom_no_file", { status: response.status }));
}

function get(access: ServiceAccess, url: string, token: string): Promise<OutboundResponse> {
  return request(access, { url, headers: { authorization: `Bearer ${token}` } });
}

/** Zoom may redirect to a page for signing in instead of returning a 401. */
function isRefusal({ status, headers }: OutboundResponse): boolean {
  return status >= 300 || /^text\/html/i.test(String(headers["content-type"] ?? ""));
}

/** A token by server-to-server OAuth; null: the connection has no credentials for it. */
async function requestToken(access: ServiceAccess): Promise<string | null> {
  const { account_id: account, client_id: id, client_secret: secret } = access.secrets;
  if (!account || !id || !secret) return null;
  const url = new URL(`${access.baseUrl}/oauth/token`);
  url.search = String(new URLSearchParams({ grant_type: "account_credentials", account_id: account }));
  const { status, json } = await requestJson(access, {
    url: url.href,
    method: "POST",
    headers: {
      authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`,
      "content-type": "application/x-www-form-urlencoded",
    },
  });
  const token = z.object({ access_token: z.string().min(1) }).safeParse(json).data?.access_token;
  if (token === undefined) throw new RecordingError(sentenceOf("zoom_credentials", { status }));
  return token;
}

const ParticipantPage = z.object({
  participants: listOf(z.object({ name: Text.nullish(), user_email: Text.nullish() }), 1000).catch([]),
  next_page_token: Text.nullish(),
});
const maxPages = 20;

/** Who took part. Without credentials, or the permission to read this, the speakers of the transcript are all. */
async function findParticipants(
  access: ServiceAccess,
  uuid: string,
): Promise<{ name: string; email: string | null }[]> {
  const token = await requestToken(access);
  const people: { name: string; email: string | null }[] = [];
  let next = "";
  for (let page = 0; token !== null && page < maxPages; page += 1) {
    // Encoded twice, since the id may have slashes.
    const url = new URL(
      `${apiUrl(access.baseUrl)}/v2/past_meetings/${encodeURIComponent(encodeURIComponent(uuid.toWellFormed()))}/participants`,
    );
    url.search = String(
      new URLSearchParams({ page_size: "300", ...(next === "" ? {} : { next_page_token: next }) }),
    );
    const { json } = await requestJson(access, {
      url: url.href,
      headers: { authorization: `Bearer ${token}` },
    });
    const found = ParticipantPage.safeParse(json).data;
    for (const { name, user_email: email } of found?.participants ?? [])
      people.push({ name: name ?? "", email: email || null });
    next = found?.next_page_token ?? "";
    if (next === "") break;
  }
  return people;
}

/** The API is at api.zoom.us, or at the host of another URL, which is a proxy. */
function apiUrl(baseUrl: string): string {
  const url = new URL(baseUrl);
  return ["zoom.us", "zoomgov.com"].includes(url.host) ? `${url.protocol}//api.${url.host}` : baseUrl;
}
