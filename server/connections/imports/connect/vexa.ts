import { z } from "zod";
import type { PortableEntry } from "../../../../contract/recordings/portable.ts";
import { sentenceOf, sentences } from "../../../../contract/sentences.ts";
import { recordingOf } from "../sources/disk.ts";
import { RecordingError } from "../sources/errors.ts";
import type { SourceMedia, SourceRecording } from "../sources/source.ts";
import { formatOfFile, request, requestJson, TemporaryError, timeOf } from "./http.ts";
import { listOf } from "./list-of.ts";
import type { ConnectedService, ServiceAccess, StoredEvent } from "./service.ts";
import { hmac, isRecent, isSame, parseJson } from "./signatures.ts";

/*
 * Recordings of the meeting bot Vexa. Sources of the formats: the pages "Webhooks" and "Meetings API" of docs.vexa.ai, and
 * the envelope in github.com/Vexa-ai/vexa.
 */

const Text = z.string().max(5000);
const Id = z.union([z.int(), z.string().regex(/^[\w-]{1,200}$/)]).transform(String);

const Meeting = z.object({
  id: Id,
  platform: z
    .string()
    .regex(/^[\w-]{1,50}$/)
    .catch("unknown"),
  native_meeting_id: Text.nullish().catch(null),
  start_time: Text.nullish().catch(null),
  data: z
    .object({ name: Text.nullish().catch(null), title: Text.nullish().catch(null) })
    .nullish()
    .catch(null),
});
const Event = z.object({
  event_id: z.string().min(1).max(200),
  event_type: z.literal("meeting.completed"),
  data: z.object({ meeting: Meeting }),
});

const Transcript = z.object({
  segments: listOf(
    z.object({
      speaker: Text.nullish().catch(null),
      text: z.string(),
      start: z.number(),
      end: z.number(),
      completed: z.boolean().nullish().catch(null),
    }),
    100_000,
  ).catch([]),
  start_time: Text.nullish().catch(null),
  recordings: listOf(z.object({ id: Id }), 100)
    .nullish()
    .catch([]),
});
const Master = z.object({ raw_url: Text });
const People = z.object({
  participants: listOf(z.object({ name: Text.nullish(), email: Text.nullish() }), 1000),
});

const sources = { google_meet: "meet", zoom: "zoom", teams: "teams" } as const;

export const vexa: ConnectedService = {
  label: "Vexa",
  isSigned({ headers, body }, secret, now) {
    const at = headers["x-webhook-timestamp"];
    if (!isRecent(at, now)) return false;
    return isSame(headers["x-webhook-signature"], `sha256=${hmac(secret, `${at}.`, body).toString("hex")}`);
  },
  read(body) {
    const parsed = Event.safeParse(parseJson(body));
    if (!parsed.success) return null;
    const { event_id: id, event_type: type, data } = parsed.data;
    return { type, id, meetingId: data.meeting.id, payload: data.meeting };
  },
  isTranscript: () => false,
  load,
};

async function load(access: ServiceAccess, event: StoredEvent): Promise<SourceRecording | null> {
  const meeting = Meeting.parse(event.payload);
  const transcript = await readTranscript(access, meeting);
  const entries = transcript.segments.flatMap(toEntry);
  const recordingId = transcript.recordings?.at(-1)?.id ?? null;
  if (recordingId === null && entries.length === 0) return null;
  const source = recordingOf({
    id: meeting.id,
    title: meeting.data?.title || meeting.data?.name || "",
    start: timeOf(transcript.start_time ?? meeting.start_time, event.receivedAt),
    durationMs: 0,
    people: await findParticipants(access, meeting),
    entries,
    media: null,
    source: sources[meeting.platform as keyof typeof sources] ?? "other",
  });
  return { ...source, openMedia: recordingId === null ? null : () => openMedia(access, recordingId) };
}

function toEntry(segment: z.output<typeof Transcript>["segments"][number]): PortableEntry[] {
  const text = segment.text.trim();
  const start = Math.max(0, Math.round(segment.start * 1000));
  const end = Math.max(start, Math.round(segment.end * 1000));
  // A draft is followed by its confirmation.
  if (text === "" || segment.completed === false) return [];
  return [{ participant_id: null, speaker: segment.speaker || "Unknown Speaker", start, end, text }];
}

/** By the meeting's own id; older versions know only the id of the platform. */
async function readTranscript(
  access: ServiceAccess,
  meeting: z.output<typeof Meeting>,
): Promise<z.output<typeof Transcript>> {
  let found = await getJson(access, `/transcripts/by-id/${meeting.id}`);
  if (found.status === 404) found = await getJson(access, `/transcripts/${nativePath(meeting)}`);
  if (found.status === 401 || found.status === 403)
    throw new RecordingError(sentenceOf("vexa_key", { status: found.status }));
  if (found.status === 404) return { segments: [], start_time: null, recordings: [] };
  const parsed = Transcript.safeParse(found.json);
  if (!parsed.success) throw new RecordingError(sentenceOf("vexa_no_meeting", { status: found.status }));
  return parsed.data;
}

async function openMedia(access: ServiceAccess, recordingId: string): Promise<SourceMedia> {
  const { status, json } = await getJson(access, `/recordings/${recordingId}/master?type=audio`);
  // The file is put together after the meeting.
  if (status === 404 || status === 409 || status === 425) throw new TemporaryError(sentences.vexa_unfinished);
  const path = Master.safeParse(json).data?.raw_url ?? "";
  if (!URL.canParse(path, `${access.baseUrl}/`))
    throw new RecordingError(sentenceOf("vexa_no_recording", { status }));
  // The URL may lack the path of a gateway.
  const url = path.startsWith("/") ? access.baseUrl + path : new URL(path, `${access.baseUrl}/`).href;
  const isOwn = new URL(url).origin === new URL(access.baseUrl).origin;
  const response = await request(access, { url, headers: isOwn ? keyOf(access) : {} });
  if (response.status < 300) return { format: formatOfFile(url, response, "audio"), body: response.body };
  response.body.destroy();
  throw new RecordingError(sentenceOf("vexa_no_file", { status: response.status }));
}

/** Invited people and speakers; the same person may be listed twice. */
async function findParticipants(
  access: ServiceAccess,
  meeting: z.output<typeof Meeting>,
): Promise<{ name: string; email: string | null }[]> {
  const { json } = await getJson(access, `/meetings/${nativePath(meeting)}/participants`);
  return (People.safeParse(json).data?.participants ?? []).map(({ name, email }) => ({
    name: name ?? "",
    email: email || null,
  }));
}

function nativePath({ platform, native_meeting_id: id }: z.output<typeof Meeting>): string {
  return `${platform}/${encodeURIComponent((id ?? "").toWellFormed())}`;
}

const keyOf = ({ secrets }: ServiceAccess) => ({ "x-api-key": secrets.api_key ?? "" });

function getJson(access: ServiceAccess, path: string) {
  return requestJson(access, { url: access.baseUrl + path, headers: keyOf(access) });
}
