import { z } from "zod";
import { Success, Timestamp, Uuid } from "../common.ts";
import { operation } from "../operation.ts";

/** What is left out of recordings, or counted beforehand, by code. */
const Counts = z.record(z.string(), z.int());

export const ImportRun = z
  .strictObject({
    id: Uuid,
    source: z.string().meta({ description: "grain, or a kind of export on disk.", example: "grain" }),
    origin: z.string().meta({ description: "URL of the service, or a name of the export." }),
    is_dry_run: z.boolean().meta({
      description:
        "Reads every recording as an import does, except for media files of services, and imports nothing.",
    }),
    state: z.enum(["pending", "running", "done", "failed", "canceled"]),
    counts: Counts.meta({
      description:
        "Counted before the import: recordings, video, audio, transcript, existing (imported before), users_matched, users_unknown.",
    }),
    imported: z.int(),
    failed: z.int().meta({ description: "Not imported, or of a dry run: that can't be imported." }),
    pending: z.int().meta({ description: "Sent, and not yet a recording." }),
    omitted: Counts.meta({
      description:
        "What was left out of imported recordings, such as recorders_without_user; of a dry run: what would be.",
    }),
    error: z.string().nullable(),
    created_datetime: Timestamp,
    finished_datetime: Timestamp.nullable(),
  })
  .meta({ id: "ImportRun" });

const ReportItem = z
  .strictObject({
    old_id: z.string().meta({ description: "The recording's id at the source." }),
    state: z.enum(["pending", "done", "failed"]),
    recording_id: Uuid.nullable(),
    reason: z.string().nullable().meta({ description: "Why it was not imported." }),
    omitted: Counts,
  })
  .meta({ id: "ImportReportItem" });

const base = { tag: "Imports", gate: "every_version", permission: "admin" } as const;
const params = z.object({ run_id: Uuid });

export const createImportRun = operation({
  ...base,
  id: "createImportRun",
  method: "POST",
  path: "/_/api/v1/import-runs",
  summary: "Create Import Run",
  description:
    "Imports everything that a token can see from Grain or another Parley, in the background. Recordings that were imported before are skipped, so a run can be repeated. The token is stored encrypted until the run ends.",
  body: z.strictObject({
    base_url: z.string().trim().max(1000).meta({ example: "https://api.grain.com" }),
    token: z.string().trim().min(1, "must not be blank").max(5000).meta({
      description: "An access token of the service, personal or of a workspace.",
    }),
    allow_http: z.boolean().optional().meta({
      description:
        "Accepts a base_url without https, other than of this machine: the token and recordings are sent unencrypted.",
    }),
    dry_run: z.boolean().optional().meta({
      description: "Only count what would be imported, and what can't be.",
    }),
  }),
  response: ImportRun,
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden", "wrong_state"],
});

export const listImportRuns = operation({
  ...base,
  id: "listImportRuns",
  method: "GET",
  path: "/_/api/v1/import-runs",
  summary: "List Import Runs",
  description: "Lists the latest 50 imports from other services and exports, newest first.",
  response: z.strictObject({ runs: z.array(ImportRun) }),
  errors: ["forbidden"],
});

export const getImportReport = operation({
  ...base,
  id: "getImportReport",
  method: "GET",
  path: "/_/api/v1/import-runs/:run_id/report",
  summary: "Get Import Report",
  description:
    "Lists recordings that were not imported, with the reason, and those of which something was left out: at most 1,000.",
  params,
  response: z.strictObject({ items: z.array(ReportItem) }),
  errors: ["forbidden", "not_found"],
});

export const cancelImportRun = operation({
  ...base,
  id: "cancelImportRun",
  method: "DELETE",
  path: "/_/api/v1/import-runs/:run_id",
  summary: "Cancel Import Run",
  description: "Stops an import. What was imported stays. A run that has ended stays as it is.",
  params,
  response: Success,
  errors: ["forbidden", "not_found"],
});
