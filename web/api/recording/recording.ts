import { type QueryClient, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import {
  createHighlight,
  deleteHighlight,
  updateHighlight,
} from "../../../contract/recordings/highlight-operations.ts";
import {
  createParticipant,
  deleteParticipant,
  type ParticipantInput,
  updateParticipant,
} from "../../../contract/recordings/participants.ts";
import { deletePrivateNotes, putPrivateNotes } from "../../../contract/recordings/private-notes.ts";
import {
  getRecordingMedia,
  getRecordingView,
  type RecordingView,
  updateRecordingData,
} from "../../../contract/recordings/recording-data.ts";
import {
  addTag,
  removeTag,
  shareToTeam,
  shareToUser,
  unshareFromTeam,
  unshareFromUser,
} from "../../../contract/recordings/recording-operations.ts";
import {
  assignSegments,
  cancelTranscription,
  correctTranscript,
  getTranscriptView,
  mergeSpeakers,
  renameSpeaker,
  rerunTranscription,
  type SpeakerReference,
  supplyTranscript,
  type TranscriptView,
  undoTranscriptEdit,
} from "../../../contract/transcripts/transcript-editing.ts";
import { transcriptText } from "../../../contract/transcripts/transcripts.ts";
import { listRecordingVoices, rememberVoice } from "../../../contract/transcripts/voice-profiles.ts";
import { type Body, call } from "../client/call.ts";
import { markChanged } from "../library/pages.ts";

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
    queryFn: ({ signal }) => call(listRecordingVoices, { params: { recording_id: id }, signal }),
  });
}

/** The recording with participants, transcript status and permissions. Polled often while it is transcribed, else once a minute. */
export function recordingQuery(id: string) {
  return queryOptions({
    queryKey: ["recording", id],
    queryFn: ({ signal }) => call(getRecordingView, { params: { recording_id: id }, signal }),
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
    queryFn: ({ signal }) => call(getRecordingMedia, { params: { recording_id: id }, signal }),
  });
}

/** The current transcript. Refetched only when the recording reports a newer version. */
export function transcriptQuery(id: string) {
  return queryOptions({
    queryKey: ["recording", id, "transcript"],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => call(getTranscriptView, { params: { recording_id: id }, signal }),
  });
}

/** The current transcript with the times of its words. */
export function wordsQuery(id: string, version: number, isEnabled: boolean) {
  return queryOptions({
    queryKey: ["recording", id, "words", version],
    enabled: isEnabled,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      call(getTranscriptView, { params: { recording_id: id }, query: { words: "true" }, signal }),
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
  void client.invalidateQueries({ queryKey: ["recordings"], refetchType: "none" });
  await client.invalidateQueries({ queryKey: ["recording", id], exact: true });
}

/** Refetches the transcript and its recording. */
export async function refreshTranscript(client: QueryClient, id: string): Promise<void> {
  await Promise.all([
    client.invalidateQueries({ queryKey: ["recording", id, "transcript"] }),
    client.invalidateQueries({ queryKey: ["recording", id], exact: true }),
  ]);
}

type DataChange = Body<typeof updateRecordingData>;
type ParticipantFields = z.input<typeof ParticipantInput>;
type SpeakerInput = z.input<typeof SpeakerReference>;

/** Requests that change one recording. All throw ApiError. */
export function recordingActions(id: string) {
  const params = { recording_id: id };
  return {
    change: (body: DataChange) => call(updateRecordingData, { params, body }),
    addParticipant: (body: ParticipantFields) => call(createParticipant, { params, body }),
    updateParticipant: (participant_id: string, body: ParticipantFields) =>
      call(updateParticipant, { params: { ...params, participant_id }, body }),
    deleteParticipant: (participant_id: string) =>
      call(deleteParticipant, { params: { ...params, participant_id } }),
    addTag: (tag: string) => call(addTag, { params, body: { tag } }),
    removeTag: (tag: string) => call(removeTag, { params: { ...params, tag } }),
    shareToUser: (user_id: string) => call(shareToUser, { params, body: { user_id } }),
    unshareFromUser: (user_id: string) => call(unshareFromUser, { params: { ...params, user_id } }),
    shareToTeam: (team_id: string) => call(shareToTeam, { params, body: { team_id } }),
    unshareFromTeam: (team_id: string) => call(unshareFromTeam, { params: { ...params, team_id } }),
    transcriptAs: (format: "txt" | "vtt" | "srt") => call(transcriptText[format], { params }),
    addHighlight: (body: Body<typeof createHighlight>) => call(createHighlight, { params, body }),
    updateHighlight: (highlight_id: string, body: Body<typeof updateHighlight>) =>
      call(updateHighlight, { params: { highlight_id }, body }),
    deleteHighlight: (highlight_id: string) => call(deleteHighlight, { params: { highlight_id } }),
    writeNotes: (text: string) =>
      text.trim() === ""
        ? call(deletePrivateNotes, { params })
        : call(putPrivateNotes, { params, body: { text } }),
    correct: (transcript_version: number, segments: { index: number; text: string }[]) =>
      call(correctTranscript, { params, body: { transcript_version, segments } }),
    renameSpeaker: (transcript_version: number, speaker: SpeakerInput, name: string) =>
      call(renameSpeaker, { params, body: { transcript_version, speaker, name } }),
    mergeSpeakers: (transcript_version: number, from: SpeakerInput[], into: SpeakerInput) =>
      call(mergeSpeakers, { params, body: { transcript_version, from, into } }),
    assign: (transcript_version: number, indexes: number[], to: SpeakerInput) =>
      call(assignSegments, { params, body: { transcript_version, indexes, to } }),
    /** @param edit number of the edit; the last one by default. */
    undo: (transcript_version: number, edit?: number) =>
      call(undoTranscriptEdit, {
        params,
        body: { transcript_version, ...(edit === undefined ? {} : { edit }) },
      }),
    supplyTranscript: (body: Body<typeof supplyTranscript>) => call(supplyTranscript, { params, body }),
    rememberVoice: (body: Body<typeof rememberVoice>) => call(rememberVoice, { params, body }),
    transcribeAgain: (body: Body<typeof rerunTranscription> = {}) =>
      call(rerunTranscription, { params, body }),
    cancelTranscription: () => call(cancelTranscription, { params }),
  };
}

export type RecordingActions = ReturnType<typeof recordingActions>;
