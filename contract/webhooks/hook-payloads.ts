import { z } from "zod";
import { Uuid } from "../common.ts";
import { Comment } from "../recordings/comments.ts";
import { Highlight } from "../recordings/highlights.ts";
import { Recording } from "../recordings/recordings.ts";
import { Story } from "../recordings/stories.ts";
import {
  TranscriptionPercent,
  TranscriptionStage,
  TranscriptionStatus,
} from "../recordings/transcription-state.ts";
import { Upload, UploadStatus } from "../uploads/uploads.ts";
import { type HookDataName, type HookType, hookTypes } from "./hook-types.ts";

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

const DeletedComment = z
  .strictObject({ id: Uuid, recording_id: Uuid })
  .meta({ id: "CommentDeletedEventData" });

/** The `data` of each kind of payload. Source: contract.md, "Events". */
const schemas: Readonly<Record<HookDataName, z.ZodObject>> = {
  recording: RecordingEventData,
  highlight: Highlight,
  story: Story,
  upload: UploadEventData,
  upload_status: UploadStatusEventData,
  transcription: TranscriptionEventData,
  deleted: Deleted,
  deleted_highlight: DeletedHighlight,
  comment: Comment,
  deleted_comment: DeletedComment,
};

/** The `data` of a hook type's events. */
export function hookData(type: HookType): z.ZodObject {
  return schemas[hookTypes[type].data];
}
