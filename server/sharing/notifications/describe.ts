import type { Notification } from "../../../contract/workspace/notifications.ts";
import { decodeMentions } from "../../recordings/comments/mentions.ts";
import type { NotificationRow } from "./queries.ts";

/** Characters of a comment or an error that are shown. */
const maxText = 300;

/** What a notification says, in the app and in emails. */
type Description = Pick<Notification, "title" | "text" | "timestamp"> & {
  /** The path of the page of the web app, without the recording's. */
  readonly path: string;
};

/**
 * A notification as the API shows it.
 * @param nameOf how names that users chose are written; by default as they are.
 */
export function present(
  row: NotificationRow,
  baseUrl: string,
  nameOf: (name: string) => string = (name) => name,
): Notification {
  const { path, ...description } = describe(row, nameOf);
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

function describe(row: NotificationRow, nameOf: (name: string) => string): Description {
  const actor = row.actor === null ? "Someone" : nameOf(row.actor.name);
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
          row.kind === "mentioned" ? `${actor} mentioned you` : `${actor} replied`,
          decodeMentions(row.comment ?? "", row.mentions),
        ),
        timestamp: row.comment_ms,
        path: `?${row.comment_ms === null ? "" : `t=${row.comment_ms / 1000}&`}comment=${row.subject_id}`,
      };
    case "shared":
      return plain(`${actor} shared this recording with ${row.data.is_team ? "your team" : "you"}`);
    case "access_requested":
      return plain(
        `${actor} requests access to this recording`,
        `${row.actor === null ? "" : `${row.actor.email}: `}grant or decline the request in the Share dialog.`,
        "?share=true",
      );
    case "access_granted":
      return plain(`${actor} gave you access to this recording`);
    case "action_item_assigned": {
      const [first, ...others] = row.items;
      const timestamp = first?.timestamp_ms ?? null;
      return {
        ...plain(
          others.length === 0
            ? "An action item is assigned to you"
            : `${row.items.length} action items are assigned to you`,
          row.items.map(({ text }) => text).join(" · "),
        ),
        timestamp,
        path: timestamp === null ? "" : `?t=${timestamp / 1000}`,
      };
    }
    case "recording_ready":
      return plain(readiness(row.data));
    case "upload_failed":
      return plain(
        row.upload_title === null ? "An upload failed" : `The upload “${nameOf(row.upload_title)}” failed`,
        row.failure_reason,
        `/uploads/${row.subject_id}`,
      );
    case "import_ended":
      return plain(
        row.import_state === "done" ? "The import has finished" : `The import ${row.import_state ?? "ended"}`,
        row.import_error,
        "/settings/imports",
      );
    case "backup_failed":
    case "disk_nearly_full":
    case "job_failing":
      return { ...plain(row.data.title ?? row.kind, null, "/settings/system"), text: row.data.text ?? null };
  }
}

/** By the states that transcription and language model ended in; null: there was none to wait for. */
function readiness({ transcript, summary }: NotificationRow["data"]): string {
  if (transcript === "failed") return "The recording could not be transcribed";
  if (transcript === "done") return `The transcript ${summary === "done" ? "and summary are" : "is"} ready`;
  return summary === "done" ? "The summary is ready" : "The recording is ready";
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
