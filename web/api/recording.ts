import { type QueryClient, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import type {
  createHighlight,
  deleteHighlight,
  updateHighlight,
} from "../../contract/recordings/highlight-operations.ts";
import type {
  createParticipant,
  deleteParticipant,
  ParticipantInput,
  updateParticipant,
} from "../../contract/recordings/participants.ts";
import type { deletePrivateNotes, putPrivateNotes } from "../../contract/recordings/private-notes.ts";
import type {
  getRecordingMedia,
  getRecordingView,
  RecordingView,
  updateRecordingData,
} from "../../contract/recordings/recording-data.ts";
import type {
  addTag,
  removeTag,
  shareToTeam,
  shareToUser,
  unshareFromTeam,
  unshareFromUser,
} from "../../contract/recordings/recording-operations.ts";
import type {
  assignSegments,
  cancelTranscription,
  correctTranscript,
  getTranscriptView,
  mergeSpeakers,
  renameSpeaker,
  rerunTranscription,
  SpeakerReference,
  supplyTranscript,
  TranscriptView,
  undoTranscriptEdit,
} from "../../contract/transcripts/transcript-editing.ts";
import type { transcriptText } from "../../contract/transcripts/transcripts.ts";
import type { listRecordingVoices, rememberVoice } from "../../contract/transcripts/voice-profiles.ts";
import { type CallInput, call, path } from "./client.ts";
import { markChanged } from "./library-pages.ts";

export type View = z.output<typeof RecordingView>;
export type Transcript = z.output<typeof TranscriptView>;
/** A word of a transcript; times in milliseconds, null where they are not known. */
export type Word = NonNullable<Transcript["segments"][number]["words"]>[number];
export type Segment = Transcript["segments"][number];
export type RecordingHighlight = NonNullable<View["recording"]["highlights"]>[number];
export type Participant = View["participants"][number];
export type Speaker = Transcript["speakers"][number];

/** The unnamed speakers whose voice can be remembered, and whom each sounds like. */
export function voicesQuery(id: string) {
  return queryOptions({
    queryKey: ["recording", id, "voices"],
    staleTime: 0,
    queryFn: ({ signal }) => call<typeof listRecordingVoices>("GET", `${managed(id)}/voices`, { signal }),
  });
}

/** The recording with participants, transcript status and permissions. Polled often while it is transcribed, else once a minute. */
export function recordingQuery(id: string) {
  return queryOptions({
    queryKey: ["recording", id],
    queryFn: ({ signal }) =>
      call<typeof getRecordingView>("GET", path`/_/api/v1/recordings/${id}`, { signal }),
    refetchInterval: ({ state }) =>
      state.status === "error" ? false : pauseMs(state.data, state.dataUpdateCount),
  });
}

const idlePauseMs = 60_000;
const minPauseMs = 2000;
const maxPauseMs = 20_000;

/** Milliseconds until the next poll; grows with the number of polls. */
function pauseMs(view: View | undefined, polls: number): number {
  const status = view?.transcript.transcription?.status;
  if (status !== "pending" && status !== "running") return idlePauseMs;
  return Math.min(maxPauseMs, minPauseMs * 1.25 ** Math.max(0, polls - 1));
}

/** URLs of a recording's files. They expire; the player refetches them when one fails. */
export function mediaQuery(id: string) {
  return queryOptions({
    queryKey: ["recording", id, "media"],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      call<typeof getRecordingMedia>("GET", path`/_/api/v1/recordings/${id}/media`, { signal }),
  });
}

/** The current transcript. Refetched only when the recording reports a newer version. */
export function transcriptQuery(id: string) {
  return queryOptions({
    queryKey: ["recording", id, "transcript"],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      call<typeof getTranscriptView>("GET", path`/_/api/v1/recordings/${id}/transcript`, { signal }),
  });
}

/** The current transcript with the times of its words. */
export function wordsQuery(id: string, version: number, isEnabled: boolean) {
  return queryOptions({
    queryKey: ["recording", id, "words", version],
    enabled: isEnabled,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      call<typeof getTranscriptView>("GET", `${path`/_/api/v1/recordings/${id}/transcript`}?words=true`, {
        signal,
      }),
  });
}

/** Loudness over time, as `server/processing/media` renders it. Peaks are 0 to 255. */
export interface Waveform {
  readonly duration_ms: number;
  readonly peaks_per_second: number;
  readonly peaks: readonly number[];
}

/** Thumbnails over time, tiled into sheets. */
export interface Storyboard {
  readonly tile_width: number;
  readonly tile_height: number;
  readonly columns: number;
  readonly rows: number;
  readonly interval_ms: number;
  readonly count: number;
  readonly sheets: readonly string[];
}

/** A JSON file of a recording. Disabled without a URL. */
export function fileQuery<T>(id: string, name: string, url: string | null | undefined) {
  return queryOptions({
    queryKey: ["recording", id, "file", name],
    enabled: typeof url === "string",
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }): Promise<T> => {
      const response = await fetch(url ?? "", { signal });
      if (!response.ok) throw new Error(`${name}: unexpected response ${response.status}`);
      return response.json() as Promise<T>;
    },
  });
}

/** Refetches a recording, and marks the lists that contain it as stale. */
export async function refreshRecording(client: QueryClient, id: string): Promise<void> {
  markChanged(client, [id]);
  client.invalidateQueries({ queryKey: ["recordings"], refetchType: "none" });
  await client.invalidateQueries({ queryKey: ["recording", id], exact: true });
}

/** Refetches the transcript and its recording. */
export async function refreshTranscript(client: QueryClient, id: string): Promise<void> {
  await Promise.all([
    client.invalidateQueries({ queryKey: ["recording", id, "transcript"] }),
    client.invalidateQueries({ queryKey: ["recording", id], exact: true }),
  ]);
}

type DataChange = NonNullable<CallInput<typeof updateRecordingData>["body"]>;
type HighlightInput = NonNullable<CallInput<typeof createHighlight>["body"]>;
type HighlightChange = NonNullable<CallInput<typeof updateHighlight>["body"]>;
type ParticipantFields = z.input<typeof ParticipantInput>;
type SpeakerInput = z.input<typeof SpeakerReference>;

const managed = (id: string): string => path`/_/api/v1/recordings/${id}`;
const contract = (id: string): string => path`/_/public-api/v2/recordings/${id}`;

/** Requests that change one recording. All throw ApiError. */
export function recordingActions(id: string) {
  const edit = `${managed(id)}/transcript`;
  return {
    change: (body: DataChange) => call<typeof updateRecordingData>("PATCH", managed(id), { body }),
    addParticipant: (body: ParticipantFields) =>
      call<typeof createParticipant>("POST", `${managed(id)}/participants`, { body }),
    updateParticipant: (participantId: string, body: ParticipantFields) =>
      call<typeof updateParticipant>("PATCH", managed(id) + path`/participants/${participantId}`, { body }),
    deleteParticipant: (participantId: string) =>
      call<typeof deleteParticipant>("DELETE", managed(id) + path`/participants/${participantId}`),
    addTag: (tag: string) => call<typeof addTag>("PUT", `${contract(id)}/tags`, { body: { tag } }),
    removeTag: (tag: string) => call<typeof removeTag>("DELETE", contract(id) + path`/tags/${tag}`),
    shareToUser: (user_id: string) =>
      call<typeof shareToUser>("PUT", `${contract(id)}/users`, { body: { user_id } }),
    unshareFromUser: (user: string) =>
      call<typeof unshareFromUser>("DELETE", contract(id) + path`/users/${user}`),
    shareToTeam: (team_id: string) =>
      call<typeof shareToTeam>("PUT", `${contract(id)}/teams`, { body: { team_id } }),
    unshareFromTeam: (team: string) =>
      call<typeof unshareFromTeam>("DELETE", contract(id) + path`/teams/${team}`),
    transcriptAs: (format: "txt" | "vtt" | "srt") =>
      call<(typeof transcriptText)[typeof format]>("GET", `${contract(id)}/transcript.${format}`),
    addHighlight: (body: HighlightInput) =>
      call<typeof createHighlight>("POST", `${managed(id)}/highlights`, { body }),
    updateHighlight: (highlightId: string, body: HighlightChange) =>
      call<typeof updateHighlight>("PATCH", path`/_/api/v1/highlights/${highlightId}`, { body }),
    deleteHighlight: (highlightId: string) =>
      call<typeof deleteHighlight>("DELETE", path`/_/api/v1/highlights/${highlightId}`),
    writeNotes: (text: string) =>
      text.trim() === ""
        ? call<typeof deletePrivateNotes>("DELETE", `${managed(id)}/private_notes`)
        : call<typeof putPrivateNotes>("PUT", `${managed(id)}/private_notes`, { body: { text } }),
    correct: (transcript_version: number, segments: { index: number; text: string }[]) =>
      call<typeof correctTranscript>("POST", `${edit}/corrections`, {
        body: { transcript_version, segments },
      }),
    renameSpeaker: (transcript_version: number, speaker: SpeakerInput, name: string) =>
      call<typeof renameSpeaker>("POST", `${edit}/speakers/rename`, {
        body: { transcript_version, speaker, name },
      }),
    mergeSpeakers: (transcript_version: number, from: SpeakerInput[], into: SpeakerInput) =>
      call<typeof mergeSpeakers>("POST", `${edit}/speakers/merge`, {
        body: { transcript_version, from, into },
      }),
    assign: (transcript_version: number, indexes: number[], to: SpeakerInput) =>
      call<typeof assignSegments>("POST", `${edit}/assignments`, {
        body: { transcript_version, indexes, to },
      }),
    /** @param number of the edit; the last one by default. */
    undo: (transcript_version: number, number?: number) =>
      call<typeof undoTranscriptEdit>("POST", `${edit}/undo`, {
        body: { transcript_version, ...(number === undefined ? {} : { edit: number }) },
      }),
    supplyTranscript: (body: CallInput<typeof supplyTranscript>["body"] & object) =>
      call<typeof supplyTranscript>("PUT", edit, { body }),
    rememberVoice: (body: CallInput<typeof rememberVoice>["body"] & object) =>
      call<typeof rememberVoice>("POST", `${managed(id)}/voices`, { body }),
    transcribeAgain: (body: CallInput<typeof rerunTranscription>["body"] & object = {}) =>
      call<typeof rerunTranscription>("POST", `${managed(id)}/transcription`, { body }),
    cancelTranscription: () => call<typeof cancelTranscription>("DELETE", `${managed(id)}/transcription`),
  };
}

export type RecordingActions = ReturnType<typeof recordingActions>;
