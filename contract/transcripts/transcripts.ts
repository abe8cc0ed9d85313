import { z } from "zod";
import { Milliseconds, Uuid } from "../common.ts";
import { operation } from "../operation.ts";
import { RecordingParams } from "../recordings/recordings.ts";

export const TranscriptEntry = z
  .strictObject({
    participant_id: Uuid.nullable(),
    speaker: z.string().meta({ description: "Name of the speaker." }),
    start: Milliseconds.meta({ description: "Milliseconds from the start of the recording." }),
    end: Milliseconds,
    text: z.string(),
  })
  .meta({ id: "TranscriptEntry" });

export const transcriptJson = operation({
  id: "getTranscript",
  tag: "Recordings",
  gate: "every_version",
  permission: "read",
  method: "GET",
  path: "/_/public-api/v2/recordings/:recording_id/transcript",
  summary: "Transcript JSON",
  description: "Returns the transcript's entries in spoken order; empty if there is no transcript.",
  params: RecordingParams,
  response: z.array(TranscriptEntry),
  errors: ["not_found"],
});

const textForms = {
  txt: { contentType: "text/plain", description: "One line per section: speaker name, colon, text." },
  vtt: { contentType: "text/vtt", description: "WebVTT with numbered cues and `<v Speaker>` voices." },
  srt: { contentType: "application/x-subrip", description: "SubRip with numbered cues, `Speaker: text`." },
} as const;

/** The transcript formats besides JSON. */
export type TranscriptFormat = keyof typeof textForms;
export const transcriptFormats = Object.keys(textForms) as TranscriptFormat[];

function textOperation(format: TranscriptFormat) {
  return operation({
    id: `getTranscript_${format}`,
    tag: "Recordings",
    gate: "every_version",
    permission: "read",
    method: "GET",
    path: `/_/public-api/v2/recordings/:recording_id/transcript.${format}`,
    summary: `Transcript ${format}`,
    description: textForms[format].description,
    params: RecordingParams,
    response: textForms[format],
    errors: ["not_found"],
  });
}

export const transcriptText = {
  txt: textOperation("txt"),
  vtt: textOperation("vtt"),
  srt: textOperation("srt"),
} as const satisfies Record<TranscriptFormat, unknown>;
