import { z } from "zod";
import { Uuid } from "../common.ts";
import { Highlight } from "../recordings/highlights.ts";
import { Recording } from "../recordings/recordings.ts";
import { Story } from "../recordings/stories.ts";
import {
  TranscriptionPercent,
  TranscriptionStage,
  TranscriptionStatus,
} from "../recordings/transcription-state.ts";
import { Upload, UploadStatus } from "../uploads/uploads.ts";
import type { HookType } from "./hooks.ts";

/** Contract, "Payload data": the Recording fields, but "the recorders entries omit participant_id". */
const RecordingEventData = Recording.extend({
  recorders: z.array(Recording.shape.recorders.element.omit({ participant_id: true })),
}).meta({ id: "RecordingEventData" });

/** Contract, "Payload data": the listed fields; `attributes` are there for hooks that include them. */
const UploadEventData = Upload.omit({ media: true, failure: true }).meta({ id: "UploadEventData" });

const UploadStatusEventData = z
  .strictObject({
    uuid: Uuid.meta({ description: "The `uuid` that Upload Recording returned." }),
    status: UploadStatus.exclude(["initial", "staged"]),
    message: z.string(),
    progress: z.int().min(0).max(100).meta({ description: "Percent." }),
    recording_id: Uuid.nullable().meta({ description: "Set once status is success." }),
    error: z.string().nullable().meta({ description: "Why it failed; null unless status is failure." }),
  })
  .meta({ id: "UploadStatusEventData" });

const TranscriptionEventData = z
  .strictObject({
    recording_id: Uuid,
    status: TranscriptionStatus.exclude(["pending"]),
    stage: TranscriptionStage,
    progress: TranscriptionPercent,
    error: z.string().nullable().meta({ description: "Why it failed; null unless status is failed." }),
  })
  .meta({ id: "TranscriptionEventData" });

const Deleted = z.strictObject({ id: Uuid }).meta({ id: "DeletedEventData" });

const DeletedHighlight = z
  .strictObject({ id: Uuid, recording_id: Uuid })
  .meta({ id: "HighlightDeletedEventData" });

/** When each hook type's event happens, and its `data`. Source: contract.md, "Events". */
export const hookPayloads: Readonly<
  Record<HookType, { readonly summary: string; readonly data: z.ZodObject }>
> = {
  recording_added: { summary: "A recording was added.", data: RecordingEventData },
  recording_updated: { summary: "A recording changed.", data: RecordingEventData },
  recording_deleted: { summary: "A recording was deleted.", data: Deleted },
  highlight_added: { summary: "A highlight was added.", data: Highlight },
  highlight_updated: { summary: "A highlight changed.", data: Highlight },
  highlight_deleted: { summary: "A highlight was deleted.", data: DeletedHighlight },
  story_added: { summary: "A story was added.", data: Story },
  story_updated: { summary: "A story changed.", data: Story },
  story_deleted: { summary: "A story was deleted.", data: Deleted },
  upload_added: { summary: "An upload was created.", data: UploadEventData },
  upload_updated: { summary: "An upload's status or attributes changed.", data: UploadEventData },
  upload_status: { summary: "An upload made progress, succeeded or failed.", data: UploadStatusEventData },
  transcription_updated: {
    summary: "A transcription began a stage, made ten percent of progress, succeeded or failed.",
    data: TranscriptionEventData,
  },
};
