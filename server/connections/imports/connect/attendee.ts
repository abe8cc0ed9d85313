import { z } from "zod";
import type { PortableEntry } from "../../../../contract/recordings/portable.ts";
import { sentenceOf } from "../../../../contract/sentences.ts";
import { recordingOf } from "../sources/disk.ts";
import { RecordingError } from "../sources/errors.ts";
import type { SourceMedia, SourceRecording } from "../sources/source.ts";
import { formatOfFile, request, requestJson } from "./http.ts";
import { listOf } from "./list-of.ts";
import type { ConnectedService, ServiceAccess, StoredEvent } from "./service.ts";
import { canonicalJson, hmac, isSame, parseJson } from "./signatures.ts";

/*
 * Recordings of the meeting bot Attendee. Sources of the formats: docs/webhooks.md and docs/openapi.yml of
 * github.com/attendee-labs/attendee.
 */

const Text = z.string().max(5000);

const Event = z.object({
  idempotency_key: z.string().min(1).max(200),
  bot_id: z.string().regex(/^[\w-]{1,200}$/),
  trigger: z.literal("bot.state_change"),
  data: z.object({ event_type: z.literal("post_processing_completed") }),
});
const Stored = z.object({ bot_id: z.string() });

const Bot = z.object({ meeting_url: Text.nullish().catch(null) }).catch({});
const Recording = z.object({ url: Text, start_timestamp_ms: z.number().nullish() });
const Utterances = listOf(
  z.object({
    speaker_name: Text.nullish().catch(null),
    speaker_uuid: Text.nullish().catch(null),
    timestamp_ms: z.number(),
    duration_ms: z.number().catch(0),
    transcription: z
      .object({ transcript: z.string().nullish().catch(null) })
      .nullish()
      .catch(null),
  }),
  100_000,
);
const ParticipantPage = z.object({
  results: listOf(z.object({ name: Text.nullish() }), 1000).catch([]),
  next: Text.nullish(),
});
const maxPages = 20;

/** Larger times are since 1970, not since the start. */
const absoluteMs = 1e11;

export const attendee: ConnectedService = {
  label: "Attendee",
  // The signature has no time: what is sent again later is recognized by its idempotency key.
  isSigned({ headers, body }, secret) {
    const text = canonicalJson(body);
    if (text === null) return false;
    const expected = hmac(Buffer.from(secret, "base64"), text).toString("base64");
    return isSame(headers["x-webhook-signature"], expected);
  },
  read(body) {
    const parsed = Event.safeParse(parseJson(body));
    if (!parsed.success) return null;
    const { idempotency_key: id, bot_id, trigger } = parsed.data;
    return { type: trigger, id, meetingId: bot_id, payload: { bot_id } satisfies z.input<typeof Stored> };
  },
  isTranscript: () => false,
  load,
};

async function load(access: ServiceAccess, event: StoredEvent): Promise<SourceRecording | null> {
  const { bot_id: id } = Stored.parse(event.payload);
  const bot = Bot.parse((await getJson(access, `/bots/${id}`)).json);
  const recording = await findRecording(access, id);
  const { json } = await getJson(access, `/bots/${id}/transcript`);
  const startMs = recording?.start_timestamp_ms ?? null;
  const entries = entriesOf(Utterances.safeParse(json).data ?? [], startMs);
  if (recording === null && entries.length === 0) return null;
  const source = recordingOf({
    id,
    title: "",
    start: startMs === null ? event.receivedAt : new Date(startMs),
    durationMs: 0,
    people: await findParticipants(access, id),
    entries,
    media: null,
    source: platformOf(bot.meeting_url ?? ""),
  });
  return { ...source, openMedia: recording === null ? null : () => openMedia(access, id) };
}

async function findRecording(
  access: ServiceAccess,
  botId: string,
): Promise<z.output<typeof Recording> | null> {
  const { status, json } = await getJson(access, `/bots/${botId}/recording`);
  if (status === 404) return null;
  const parsed = Recording.safeParse(json);
  if (!parsed.success) throw new RecordingError(sentenceOf("attendee_no_recording", { status }));
  return parsed.data;
}

/** The URL of the file is valid for a short time, so each attempt requests a new one. */
async function openMedia(access: ServiceAccess, botId: string): Promise<SourceMedia | null> {
  const recording = await findRecording(access, botId);
  if (recording === null || !URL.canParse(recording.url)) return null;
  const response = await request(access, { url: recording.url });
  if (response.status < 300)
    return { format: formatOfFile(recording.url, response, "video"), body: response.body };
  response.body.destroy();
  throw new RecordingError(sentenceOf("attendee_no_file", { status: response.status }));
}

function entriesOf(
  utterances: z.output<typeof Utterances>,
  startMs: number | null,
): readonly PortableEntry[] {
  const firstMs = startMs ?? utterances[0]?.timestamp_ms ?? 0;
  const unnamed: string[] = [...new Set(utterances.map(({ speaker_uuid: id }) => id ?? ""))];
  return utterances.flatMap(
    ({ speaker_name, speaker_uuid: id, timestamp_ms: at, duration_ms: length, transcription }) => {
      const speaker = speaker_name || (id ? `Speaker ${unnamed.indexOf(id) + 1}` : "Unknown Speaker");
      const text = transcription?.transcript?.trim() ?? "";
      const start = Math.max(0, Math.round(at > absoluteMs ? at - firstMs : at));
      const end = start + Math.max(0, Math.round(length));
      return text === "" ? [] : [{ participant_id: null, speaker, start, end, text }];
    },
  );
}

async function findParticipants(
  access: ServiceAccess,
  botId: string,
): Promise<{ name: string; email: null }[]> {
  const people: { name: string; email: null }[] = [];
  let query = "";
  for (let page = 0; page < maxPages; page += 1) {
    const { json } = await getJson(access, `/bots/${botId}/participants${query}`);
    const found = ParticipantPage.safeParse(json).data;
    for (const { name } of found?.results ?? []) if (name) people.push({ name, email: null });
    const cursor = cursorOf(found?.next ?? "");
    if (cursor === null) break;
    query = `?${new URLSearchParams({ cursor })}`;
  }
  return people;
}

function cursorOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).searchParams.get("cursor") : null;
}

function getJson(access: ServiceAccess, path: string) {
  return requestJson(access, {
    url: `${access.baseUrl}/api/v1${path}`,
    headers: { authorization: `Token ${access.secrets.api_key ?? ""}`, "content-type": "application/json" },
  });
}

function platformOf(meetingUrl: string): "meet" | "teams" | "zoom" | "other" {
  const host = URL.canParse(meetingUrl) ? new URL(meetingUrl).hostname : "";
  if (host === "zoom.us" || host.endsWith(".zoom.us")) return "zoom";
  if (host === "meet.google.com") return "meet";
  return host.endsWith("teams.microsoft.com") || host.endsWith("teams.live.com") ? "teams" : "other";
}
