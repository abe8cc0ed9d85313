import { type RawBuilder, sql } from "kysely";
import { z } from "zod";
import type { JobOwner } from "../../platform/jobs/define.ts";
import type { Localized } from "../../platform/language/i18n.ts";

/** A query for the owner of a job: a recording counts for its first recorder, or for the workspace once it has none. */
export function ownerOfRecording(recordingId: RawBuilder<unknown>): RawBuilder<JobOwner> {
  return sql<JobOwner>`
    select r.workspace_id, coalesce(
      (select user_id from recording_recorders where recording_id = r.id order by position limit 1),
      r.workspace_id) as user_id
    from recordings r where r.id = (${recordingId})`;
}

const schema = z.object({ recordingId: z.string() });

/** The payload of all jobs of a recording. */
export type RecordingPayload = z.infer<typeof schema>;

/** What all jobs of a recording have in common. */
export const ofRecording = {
  schema,
  subject: "recording" as const,
  owner: ({ recordingId }: { readonly recordingId: string }) =>
    ownerOfRecording(sql`select ${recordingId}::uuid`),
};

/** What is lost when a job of a recording is discarded. */
export const lostOfRecording: Localized = (i18n) =>
  i18n.t("The recording stays. What is missing can be requested again.");
