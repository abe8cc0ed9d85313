import type { z } from "zod";
import type {
  TranscriptInput,
  Upload,
  UploadIncludeInput,
  UploadTarget,
} from "../../../../contract/uploads/uploads.ts";
import { uploadFields } from "../lifecycle/events.ts";
import type { UploadRow } from "../queries.ts";
import { anonymousSpeakers } from "../speakers.ts";
import type { FileTarget } from "../transfer/file-links.ts";

type UploadOutput = z.input<typeof Upload>;

/**
 * An upload as the contract shows it.
 * @param transcript the upload's transcript, when requested by the include and present.
 * @param target where to send its file, while it is awaiting one.
 */
export function presentUpload(
  row: UploadRow,
  include: UploadIncludeInput,
  transcript: TranscriptInput | undefined,
  target: FileTarget | null,
  now: Date,
): UploadOutput {
  const media = presentMedia(row, target, now);
  return {
    ...uploadFields(row),
    ...(media === undefined ? {} : { media }),
    ...(include.attributes || include.transcript
      ? { attributes: presentAttributes(row, include, transcript) }
      : {}),
    ...(row.status === "failure" ? { failure: failureOf(row, "the upload failed") } : {}),
  };
}

/** Why an upload failed. @param unknown for one that gave no reason. */
export function failureOf(row: UploadRow, unknown: string): NonNullable<UploadOutput["failure"]> {
  const { failure_reason: reason, failure_causes: causes } = row;
  return { reason: reason ?? unknown, ...(causes === null ? {} : { causes: [...causes] }) };
}

/** Contract, "Upload Media by upload status": the fields of each status; other statuses have none. */
function presentMedia(row: UploadRow, target: FileTarget | null, now: Date): UploadOutput["media"] {
  if (row.media_type === "transcript") return undefined;
  if (row.status === "processing") return { status: "processing" };
  if (row.status === "staged" && row.media_expires_at !== null)
    return {
      status: row.media_expires_at <= now ? "media_expired" : "uploaded",
      expires_at: row.media_expires_at.toISOString(),
    };
  if (row.status !== "awaiting" || row.url_expires_at === null || target === null) return undefined;
  return {
    status: row.url_expires_at <= now ? "url_expired" : "awaiting",
    upload: presentTarget(row, target),
  };
}

/** Where and how to send the file of an awaiting upload. */
export function presentTarget(row: UploadRow, target: FileTarget): z.input<typeof UploadTarget> {
  return {
    url: target.url,
    expires_at: row.url_expires_at?.toISOString() ?? "",
    headers: { ...target.headers },
    max_duration_sec: row.max_duration_sec ?? 0,
    max_upload_bytes: Number(row.max_upload_bytes),
    tus_url: target.tusUrl,
  };
}

/** The attributes of an upload that the include requests. */
export function presentAttributes(
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
          participants: row.participants.map(({ extra: _, ...person }) => person),
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
