import { z } from "zod";
import { Success, Timestamp, Uuid } from "./common.ts";
import { operation } from "./operation.ts";

/** The parts of an installation, in the order in which they are shown. */
const systemComponents = [
  "database",
  "storage",
  "worker",
  "backups",
  "mail",
  "speech",
  "language_model",
] as const;

/** Parts that a test can try now. */
const testableComponents = ["database", "storage", "mail", "speech", "language_model"] as const;

const Finding = {
  explanation: z.string().meta({ description: "What the state is based on, in a sentence or two." }),
  remedy: z.string().nullable().meta({ description: "What to do about it; null unless something is wrong." }),
};

const ComponentHealth = z
  .strictObject({
    component: z.enum(systemComponents),
    state: z.enum(["ok", "failing", "off"]).meta({ description: "`off`: it is not set up." }),
    ...Finding,
  })
  .meta({ id: "ComponentHealth" });

/** What the operator of a new installation sets up, in this order. */
const checklistSteps = ["mail", "backups", "speech", "language_model", "sign_in", "second_admin"] as const;

const ChecklistStep = z
  .strictObject({
    step: z.enum(checklistSteps),
    done: z.boolean().meta({ description: "For `backups`: scheduled, and one was verified." }),
    failing: z.boolean().meta({ description: "Whether it is set up, and does not work now." }),
    explanation: z.string(),
  })
  .meta({ id: "ChecklistStep" });

/** Jobs of one kind. */
const JobCounts = z
  .strictObject({
    kind: z.string().meta({ example: "promote_media" }),
    label: z
      .string()
      .meta({ description: "The kind in words, in the reader's language.", example: "Process media" }),
    waiting: z.int().min(0).meta({ description: "Not started yet." }),
    running: z.int().min(0),
    failed: z.int().min(0).meta({ description: "Failed jobs, which are retried or have stopped." }),
    oldest_datetime: Timestamp.nullable().meta({
      description: "When the oldest job that has not ended was added; null without one.",
    }),
  })
  .meta({ id: "JobCounts" });

const FailedJob = z
  .strictObject({
    id: z.string().meta({
      description: "The kind and its subject, as Retry Job and Discard Job take it.",
      example: "promote_media.0198c2f4-7a31-7cc2-9d52-3f0f7f3c9a11",
    }),
    kind: z.string(),
    label: z.string().meta({ description: "The kind in words, in the reader's language." }),
    subject_type: z.enum([
      "upload",
      "recording",
      "clip",
      "personal_data_erasure",
      "mail",
      "password_reset",
      "access_request",
      "speech_model",
      "import_run",
      "connection_event",
      "installation",
    ]),
    subject_id: Uuid.nullable().meta({ description: "Null for a recurring job of the installation." }),
    workspace: z.strictObject({ id: Uuid, name: z.string() }).nullable().meta({
      description: "Null for jobs that belong to no workspace.",
    }),
    attempts: z.int().min(1).meta({ description: "Failed attempts." }),
    error: z.string().meta({ description: "Why the last attempt failed." }),
    next_attempt_datetime: Timestamp.nullable().meta({
      description: "When it is retried; null: it has stopped and is retried on request only.",
    }),
    can_discard: z.boolean(),
    discard_effect: z.string().nullable().meta({
      description:
        "What is lost when it is discarded, in the reader's language; null: its kind can't be discarded.",
    }),
  })
  .meta({ id: "FailedJob" });

const FailedUpload = z
  .strictObject({
    id: Uuid,
    workspace: z.strictObject({ id: Uuid, name: z.string() }),
    stage: z.string().meta({
      description:
        "The status in which it failed: awaiting (the file never arrived), processing (it is not valid), staged (it was not published in time) or promoting (it could not be converted).",
    }),
    reason: z.string().meta({ description: "As the user who sent it reads it." }),
    detail: z.string().nullable().meta({ description: "What the media library or the database reported." }),
    bytes: z.int().nullable().meta({ description: "Size of the file; null: unknown." }),
    container: z.string().nullable().meta({ description: "Format of the file; null: unknown." }),
    failed_datetime: Timestamp,
  })
  .meta({ id: "FailedUpload" });

const FailingHook = z
  .strictObject({
    id: Uuid,
    workspace: z.strictObject({ id: Uuid, name: z.string() }),
    host: z.string().meta({ description: "Host of the hook's URL." }),
    hook_type: z.string(),
    failing_since: Timestamp,
    disabled: z.boolean(),
    pending: z.int().min(0).meta({ description: "Deliveries waiting for their next attempt." }),
    last_error: z.string().nullable(),
  })
  .meta({ id: "FailingHook" });

const Backups = z
  .strictObject({
    destination: z.string().nullable().meta({
      description: "Where scheduled backups are stored; null: none are scheduled.",
    }),
    last_datetime: Timestamp.nullable().meta({ description: "When a backup last succeeded." }),
    next_datetime: Timestamp.nullable(),
    last_verified_datetime: Timestamp.nullable(),
    overdue: z.boolean().meta({
      description: "Backups are scheduled, and none has succeeded for two days.",
    }),
    last_error: z.string().nullable().meta({ description: "Why the last run failed; null: it did not." }),
    missing_files: z.int().min(0).meta({
      description:
        "Files that the last backup lacks, because they were missing or damaged in the file store.",
    }),
  })
  .meta({ id: "SystemBackups" });

const Process = z
  .strictObject({
    id: Uuid,
    role: z.enum(["all", "api", "worker"]),
    host: z.string(),
    pid: z.int(),
    version: z.string(),
    started_datetime: Timestamp,
    heartbeat_datetime: Timestamp,
    responding: z.boolean().meta({ description: "Whether it sent a heartbeat within the last minute." }),
  })
  .meta({ id: "SystemProcess" });

const WatchedFolder = z
  .strictObject({
    folder: z.string().meta({ description: "As PARLEY_WATCH_DIRS names it." }),
    watched: z.boolean().meta({
      description:
        "Whether the settings or a running worker name it; its files are not imported otherwise. Other folders are listed for 7 days.",
    }),
    last_scan_datetime: Timestamp.nullable().meta({
      description: "When a worker last listed all of it; null: not yet.",
    }),
    problem: z.string().nullable().meta({ description: "Why it, or a folder in it, can't be imported." }),
    waiting: z.int().min(0).meta({ description: "Found, and not being imported yet." }),
    delay: z.string().nullable().meta({ description: "What some of them wait for; null: their turn." }),
    pending: z.int().min(0).meta({ description: "Sent, and not a recording yet." }),
    done: z.int().min(0),
    failed: z.int().min(0),
    skipped: z.int().min(0).meta({ description: "Files that are not recordings." }),
    failed_files: z
      .array(
        z.strictObject({
          id: z.string(),
          path: z.string().nullable().meta({ description: "Below the folder; null: erased." }),
          workspace: z.strictObject({ id: Uuid, name: z.string() }),
          error: z.string(),
          failed_datetime: Timestamp,
        }),
      )
      .meta({ description: "The latest failed files, at most 20." }),
  })
  .meta({ id: "WatchedFolder" });

/** The state of the installation. */
export const System = z
  .strictObject({
    version: z.string(),
    healthy: z.boolean().meta({ description: "Whether no component is failing." }),
    quarantine: z.strictObject({ backup: z.string(), since: Timestamp }).nullable().meta({
      description: "Set while this installation is a restored backup that was not accepted yet.",
    }),
    checklist: z.array(ChecklistStep).nullable().meta({
      description: "What to set up on a new installation; null once an admin dismissed it.",
    }),
    components: z.array(ComponentHealth),
    secret_rotation: z
      .strictObject({ total: z.int().min(0), done: z.int().min(0) })
      .nullable()
      .meta({
        description:
          "Stored values that are being encrypted with a new secret, and how many are; null: none.",
      }),
    jobs: z.array(JobCounts),
    failed_jobs: z
      .array(FailedJob)
      .meta({ description: "The failed jobs whose next attempt is due first, at most 100." }),
    failed_uploads: z
      .array(FailedUpload)
      .meta({ description: "The latest failed uploads of the last 7 days, at most 20." }),
    failing_hooks: z.array(FailingHook).meta({ description: "The hooks that fail longest, at most 50." }),
    failing_hook_count: z.int().min(0),
    backups: Backups,
    watched_folders: z.array(WatchedFolder),
    processes: z.array(Process),
  })
  .meta({ id: "System" });

const StorageUse = z
  .strictObject({
    workspaces: z.array(
      z.strictObject({
        id: Uuid.nullable().meta({ description: "Null: all smaller workspaces together." }),
        name: z.string().nullable(),
        bytes: z.number().min(0),
        kinds: z
          .array(z.strictObject({ kind: z.string(), bytes: z.number().min(0) }))
          .meta({ description: "Largest first; `upload`: files of unfinished uploads." }),
      }),
    ),
    database_bytes: z.number().min(0),
    disk: z
      .strictObject({ free_bytes: z.number().min(0), size_bytes: z.number().min(0) })
      .nullable()
      .meta({ description: "The volume of the data folder; null if it can't be read." }),
    measured_datetime: Timestamp,
  })
  .meta({ id: "StorageUse" });

const common = { tag: "System", gate: "every_version", permission: "admin" } as const;

/** Added to each description. */
const whoMay = "For admins of the operator's workspace; see `parley workspace operator`.";

export const getSystem = operation({
  ...common,
  id: "getSystem",
  method: "GET",
  path: "/_/api/v1/system",
  summary: "Get System",
  description: `Returns the state of the whole installation: its components, jobs, failing hooks, backups, watched folders and processes. ${whoMay}`,
  response: System,
  errors: ["forbidden"],
});

export const dismissChecklist = operation({
  ...common,
  id: "dismissChecklist",
  method: "POST",
  path: "/_/api/v1/system/checklist/dismiss",
  summary: "Dismiss Checklist",
  description: `Hides the list of what to set up, for all admins and permanently. ${whoMay}`,
  response: Success,
  errors: ["forbidden"],
});

export const getStorageUse = operation({
  ...common,
  id: "getStorageUse",
  method: "GET",
  path: "/_/api/v1/system/storage",
  summary: "Get Storage Use",
  description: `Returns the stored bytes by workspace and kind, at most a minute old. ${whoMay}`,
  response: StorageUse,
  errors: ["forbidden"],
});

export const testComponent = operation({
  ...common,
  id: "testComponent",
  method: "POST",
  path: "/_/api/v1/system/components/:component/test",
  summary: "Test Component",
  description: `Tries a component for real: a database transaction; writing, reading and deleting an object; an email to the caller; a request to the speech or language model. Takes up to a minute. ${whoMay}`,
  params: z.object({ component: z.enum(testableComponents) }),
  response: z.strictObject({
    component: z.enum(testableComponents),
    state: z.enum(["ok", "failing", "off"]),
    ...Finding,
    duration_ms: z.int().min(0),
  }),
  errors: ["forbidden", "not_found"],
});

const JobParams = z.object({ job_id: z.string().max(200) });

export const retryJob = operation({
  ...common,
  id: "retryJob",
  method: "POST",
  path: "/_/api/v1/system/jobs/:job_id/retry",
  summary: "Retry Job",
  description: `Runs a failed job now instead of at its next attempt. ${whoMay}`,
  params: JobParams,
  response: Success,
  errors: ["forbidden", "not_found", "wrong_state"],
});

export const discardJob = operation({
  ...common,
  id: "discardJob",
  method: "POST",
  path: "/_/api/v1/system/jobs/:job_id/discard",
  summary: "Discard Job",
  description: `Ends a failed job: its upload, transcription, summary or clip fails, its email is not sent. ${whoMay}`,
  params: JobParams,
  response: Success,
  errors: ["forbidden", "not_found", "wrong_state"],
});

export const retryWatchedFiles = operation({
  ...common,
  id: "retryWatchedFiles",
  method: "POST",
  path: "/_/api/v1/system/watched_files/retry",
  summary: "Retry Watched Files",
  description: `Imports failed files of a watched folder again at its next check. Refused with \`wrong_state\` while no running worker watches the folder. ${whoMay}`,
  body: z.strictObject({
    folder: z.string().max(2000).meta({ description: "As Get System returns it." }),
    id: z
      .string()
      .regex(/^[0-9a-f-]{1,120}$/, "must be the id of a file")
      .optional()
      .meta({
        description: "A failed file; left out: all of the folder.",
      }),
  }),
  response: z.strictObject({ retried: z.int().min(0) }),
  errors: ["invalid_json", "invalid_input", "body_too_large", "forbidden", "not_found", "wrong_state"],
});
