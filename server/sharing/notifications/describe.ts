import { audienceOf } from "../../../contract/workspace/notification-kinds.ts";
import type { Notification } from "../../../contract/workspace/notifications.ts";
import { withoutMarks } from "../../../shared/markdown/read.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import type { I18n } from "../../platform/language/i18n.ts";
import { decodeMentions } from "../../recordings/comments/mentions.ts";
import { failureText } from "./file-failures.ts";
import type { NotificationRow } from "./queries.ts";

/** Characters of a comment or an error that are shown. */
const maxText = 300;

/** What a notification says, in the app and in emails. */
type Description = Pick<Notification, "title" | "text" | "timestamp"> & {
  /** The path of the page of the web app, without the recording's. */
  readonly path: string;
};

/** What a notification may name besides its subject. */
export interface Named {
  readonly baseUrl: string;
  readonly kinds: JobQueue["kinds"];
}

/**
 * A notification as the API shows it, in the reader's language. Errors that have no text of their own are in English, as they were recorded.
 * @param nameOf how names that users chose are written; by default as they are.
 */
export function present(
  i18n: I18n,
  row: NotificationRow,
  { baseUrl, kinds }: Named,
  nameOf: (name: string) => string = (name) => name,
): Notification {
  const { path, ...description } = describe(i18n, row, kinds, nameOf);
  const page = row.recording_id === null ? "" : `/recordings/${row.recording_id}`;
  return {
    id: row.id,
    kind: row.kind,
    recording_id: row.recording_id,
    recording_title: row.recording_title,
    actor: row.actor,
    ...description,
    url: `${baseUrl}${page}${path}`,
    read_datetime: row.read_at?.toISOString() ?? null,
    created_datetime: row.created_at.toISOString(),
  };
}

function describe(
  i18n: I18n,
  row: NotificationRow,
  kinds: Named["kinds"],
  nameOf: (name: string) => string,
): Description {
  const actor = row.actor === null ? null : nameOf(row.actor.name);
  const plain = (title: string, text: string | null = null, path = ""): Description => ({
    title,
    text: text === null ? null : shorten(text),
    timestamp: null,
    path,
  });
  switch (row.kind) {
    case "mentioned":
    case "replied":
      return {
        ...plain(
          row.kind === "mentioned" ? mention(i18n, actor) : reply(i18n, actor),
          decodeMentions(withoutMarks(row.comment ?? "", { hasCode: false }), row.mentions),
        ),
        timestamp: row.comment_ms,
        path: `?${row.comment_ms === null ? "" : `t=${row.comment_ms / 1000}&`}comment=${row.subject_id}`,
      };
    case "shared":
      return plain(row.data.is_team ? teamShare(i18n, actor) : share(i18n, actor));
    case "access_requested":
      return plain(
        actor === null
          ? i18n.t("Someone requests access to this recording")
          : i18n.t("{actor} requests access to this recording", { actor }),
        row.actor === null
          ? i18n.t("Grant or decline the request in the Share dialog.")
          : i18n.t("{email}: grant or decline the request in the Share dialog.", { email: row.actor.email }),
        "?share=true",
      );
    case "access_granted":
      return plain(
        actor === null
          ? i18n.t("Someone gave you access to this recording")
          : i18n.t("{actor} gave you access to this recording", { actor }),
      );
    case "action_item_assigned": {
      const timestamp = row.items[0]?.timestamp_ms ?? null;
      return {
        ...plain(
          i18n.t(
            "{count, plural, one {An action item is assigned to you} other {# action items are assigned to you}}",
            { count: row.items.length },
          ),
          row.items.map(({ text }) => text).join(" · "),
        ),
        timestamp,
        path: timestamp === null ? "" : `?t=${timestamp / 1000}`,
      };
    }
    case "recording_ready":
      return plain(readiness(i18n, row.data));
    case "upload_failed":
      return plain(
        row.upload_title === null
          ? i18n.t("An upload failed")
          : i18n.t("The upload “{title}” failed", { title: nameOf(row.upload_title) }),
        failureText(i18n, row.failure_causes) ?? row.failure_reason,
        `/uploads/${row.subject_id}`,
      );
    case "import_ended":
      return plain(importEnd(i18n, row.import_state), row.import_error, "/settings/imports");
    case "backup_failed":
    case "disk_nearly_full":
    case "job_failing":
      return {
        ...plain(serverProblem(i18n, row, kinds), null, "/settings/system"),
        text: failingJobs(i18n, row) ?? row.data.text ?? null,
      };
  }
}

/** Whether the text of a notification is an error as it was recorded, in English. */
export function isInEnglish(i18n: I18n, row: NotificationRow): boolean {
  if (row.kind === "upload_failed") return failureText(i18n, row.failure_causes) === null;
  return audienceOf(row.kind) !== "everyone" && row.data.failing === undefined;
}

function failingJobs(i18n: I18n, { data: { failing } }: NotificationRow): string | null {
  if (failing === undefined) return null;
  const { count, attempts, error } = failing;
  return i18n.t(
    "{count, plural, one {One job has failed {attempts} times or more. The last error: {error}} other {# jobs have failed {attempts} times or more. The last error: {error}}}",
    { count, attempts, error },
  );
}

function serverProblem(
  i18n: I18n,
  { kind, data: { problem, job: label, failing, title } }: NotificationRow,
  kinds: Named["kinds"],
): string {
  const job = (failing === undefined ? undefined : kinds.get(failing.kind)?.label(i18n)) ?? label;
  if (job !== undefined) return i18n.t("“{job}” keeps failing", { job });
  switch (problem) {
    case "disk_full":
      return i18n.t("The server's disk is full");
    case "disk_nearly_full":
      return i18n.t("The server's disk is nearly full");
    case "overdue_backups":
      return i18n.t("Backups are overdue");
    case "backup":
      return i18n.t("The scheduled backup failed");
    case "removal_of_backups":
      return i18n.t("Old backups could not be removed");
    case "verification":
      return i18n.t("The verification of the backup failed");
    default:
      return title ?? kind;
  }
}

function mention(i18n: I18n, actor: string | null): string {
  return actor === null ? i18n.t("Someone mentioned you") : i18n.t("{actor} mentioned you", { actor });
}

function reply(i18n: I18n, actor: string | null): string {
  return actor === null ? i18n.t("Someone replied") : i18n.t("{actor} replied", { actor });
}

function share(i18n: I18n, actor: string | null): string {
  return actor === null
    ? i18n.t("Someone shared this recording with you")
    : i18n.t("{actor} shared this recording with you", { actor });
}

function teamShare(i18n: I18n, actor: string | null): string {
  return actor === null
    ? i18n.t("Someone shared this recording with your team")
    : i18n.t("{actor} shared this recording with your team", { actor });
}

/** By the states that transcription and language model ended in; null: there was none to wait for. */
function readiness(i18n: I18n, { transcript, summary }: NotificationRow["data"]): string {
  if (transcript === "failed") return i18n.t("The recording could not be transcribed");
  if (transcript === "done")
    return summary === "done"
      ? i18n.t("The transcript and summary are ready")
      : i18n.t("The transcript is ready");
  return summary === "done" ? i18n.t("The summary is ready") : i18n.t("The recording is ready");
}

function importEnd(i18n: I18n, state: NotificationRow["import_state"]): string {
  switch (state) {
    case "done":
      return i18n.t("The import has finished");
    case "failed":
      return i18n.t("The import failed");
    case "canceled":
      return i18n.t("The import was canceled");
    default:
      return i18n.t("The import ended");
  }
}

function shorten(text: string): string {
  const characters = [...text];
  return characters.length <= maxText
    ? text
    : `${characters
        .slice(0, maxText - 1)
        .join("")
        .trimEnd()}…`;
}
