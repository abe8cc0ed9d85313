import type { z } from "zod";
import type { TranscriptInput, Upload, UploadIncludeInput } from "../../contract/uploads.ts";
import type { UploadRow } from "./queries.ts";
import { anonymousSpeakers } from "./speakers.ts";

type UploadOutput = z.input<typeof Upload>;

/**
 * An upload as the contract shows it.
 * @param transcript the upload's transcript when the include asks for it and there is one.
 */
export function presentUpload(
  row: UploadRow,
  include: UploadIncludeInput,
  transcript: TranscriptInput | undefined,
): UploadOutput {
  return {
    ...uploadFields(row),
    ...(include.attributes || include.transcript
      ? { attributes: presentAttributes(row, include, transcript) }
      : {}),
    ...(row.status === "failure" ? { failure: { reason: row.failure_reason ?? "the upload failed" } } : {}),
  };
}

/** The fields every view of an upload has, and the data of its events. */
export function uploadFields(row: UploadRow) {
  return {
    id: row.id,
    media_type: row.media_type,
    title: row.title,
    status: row.status,
    auto_promote: row.auto_promote,
    recording_id: row.status === "success" ? row.recording_id : null,
    created_datetime: row.created_at.toISOString(),
    updated_datetime: row.updated_at.toISOString(),
  };
}

function presentAttributes(
  row: UploadRow,
  include: UploadIncludeInput,
  transcript: TranscriptInput | undefined,
): NonNullable<UploadOutput["attributes"]> {
  return {
    title: row.title,
    ...(include.attributes
      ? {
          start_datetime: row.start_datetime?.toISOString() ?? null,
          team_id: row.team_id,
          recorder_ids: row.recorder_ids,
          participants: [...row.participants],
        }
      : {}),
    ...(include.transcript && transcript
      ? {
          transcript: {
            ...transcript,
            anonymous_speakers: anonymousSpeakers(transcript.segments, row.participants),
          },
        }
      : {}),
  };
}
