import { sql } from "kysely";
import { z } from "zod";
import { prepared } from "../../platform/db/prepared.ts";
import type { Discard, JobOwner } from "../../platform/jobs/define.ts";
import { failDiscardedUpload } from "./lifecycle/discard.ts";
import { removeFile } from "./lifecycle/upload-file.ts";

const schema = z.object({ uploadId: z.string() });

/** The payload of all jobs of an upload. */
export type UploadPayload = z.infer<typeof schema>;

/** What all jobs of an upload have in common. */
export const ofUpload = {
  schema,
  subject: "upload" as const,
  // A workspace token uploads for the users it credits: the first recorder counts, not the token's issuer.
  owner: ({ uploadId }: { readonly uploadId: string }) => sql<JobOwner>`
    select workspace_id,
      case when scope = 'personal' then created_by else coalesce(recorder_ids[1], created_by) end as user_id
    from uploads where id = ${uploadId} ${prepared}`,
  discard: {
    lost: (i18n) => i18n.t("The upload fails and its file is deleted. It can be sent again."),
    async end(tx, { jobs, store }, uploadId) {
      const upload = await failDiscardedUpload(tx, jobs, uploadId);
      if (upload === null || upload.media_type === "transcript") return null;
      return () => removeFile(store, upload);
    },
  } satisfies Discard,
};
