import { plural, t } from "@lingui/core/macro";
import type { importSentences } from "../../../contract/failures/imports.ts";
import type { SentenceValues } from "../../../contract/sentences.ts";
import { sizeText } from "../values.ts";

/** Why imports, connections and watched folders fail. */
export const importTexts: {
  readonly [Code in keyof typeof importSentences]: (values: SentenceValues<Code>) => string;
} = {
  import_interrupted: () => t`interrupted`,
  import_canceled: () => t`the import was canceled`,
  import_slow: ({ hours }) =>
    plural(Number(hours), {
      one: "the import took more than # hour; start it again to continue, what was imported is skipped",
      other: "the import took more than # hours; start it again to continue, what was imported is skipped",
    }),
  import_base_url: ({ reason }) => t`the base URL ${reason}`,
  import_token: () => t`the service refuses the token; check that it is complete and has not expired`,
  import_token_ended: () => t`the service no longer accepts the token; continue with a new one`,
  import_versions: ({ url, versions }) => t`${url} has no version of the API that Parley knows: ${versions}`,
  import_pages: ({ limit }) =>
    plural(Number(limit), {
      one: "the service returns more than # page",
      other: "the service returns more than # pages",
    }),
  import_list_long: ({ bytes }) => {
    const limit = sizeText(Number(bytes));
    return t`the service's list of recordings is larger than ${limit}`;
  },
  import_recordings: ({ limit }) =>
    plural(Number(limit), {
      one: "the service returns more than # recording",
      other: "the service returns more than # recordings",
    }),
  import_repeated: () => t`the service repeats a page of List Recordings`,
  import_list_status: ({ status }) =>
    t`the service responds to List Recordings with ${status}; nothing after it is read`,
  import_invalid: ({ reason }) => t`the service returns invalid data: ${reason}`,
  import_no_id: () => t`the service returns it without an id`,
  import_no_transcript: ({ status }) => t`the service returns no transcript (status ${status})`,
  import_no_media: ({ status }) => t`the service does not return the media file (status ${status})`,
  import_media_gone: () => t`the media file is gone from the source`,
  import_media_broken: () => t`the media file could not be read to its end`,
  import_media_large: () => t`the media file is larger than PARLEY_MAX_UPLOAD_BYTES`,
  import_values: () => t`it has values that can't be stored`,
  event_imported: () => t`The meeting was imported before.`,
  event_no_recording: () => t`The meeting has no recording that can be imported.`,
  event_waits_for_recording: () => t`Waiting for the event that reports the meeting's recording.`,
  event_waits_until_ready: () => t`Waiting for the recording to be ready.`,
  event_never_arrived: () => t`The event that reports the meeting's recording did not arrive.`,
  event_in_trash: () => t`The recording is in the trash. Restore it, then retry this event.`,
  event_recording_deleted: () => t`The recording was deleted.`,
  event_has_transcript: () => t`The recording was imported with this transcript.`,
  event_edited: () => t`The recording's transcript was edited here, so it was not replaced.`,
  event_upload_gone: () => t`The upload was removed before it became a recording.`,
  event_transcript_notes: ({ reason }) => t`Transcript: ${reason}`,
  event_no_text: ({ reason }) => t`the transcript has no text to use: ${reason}`,
  event_no_text_at_all: () => t`the transcript has no text to use`,
  event_late_lines: ({ count }) =>
    plural(Number(count), {
      one: "# of its lines begins after the end of the recording and was left out.",
      other: "# of its lines begin after the end of the recording and were left out.",
    }),
  event_transcript_changed: () => t`the transcript has just changed`,
  event_transcript_unread: ({ reason }) => t`the transcript can't be read: ${reason}`,
  connection_no_admin: () => t`the workspace has no active admin to own the recording`,
  connection_status: ({ host, status }) => t`${host} responds with ${status}`,
  connection_not_json: ({ host }) => t`${host} responds with something that is not JSON`,
  zoom_no_size: () => t`Zoom did not report the size of one part of the recording`,
  zoom_token: () =>
    t`Zoom refused the event's download token, which is valid for 24 hours, and the connection has no OAuth credentials; create a connection with OAuth credentials`,
  zoom_no_file: ({ status }) => t`Zoom did not return the file (status ${status})`,
  zoom_credentials: ({ status }) =>
    t`Zoom refused the connection's OAuth credentials (status ${status}); create a connection with valid credentials`,
  attendee_no_recording: ({ status }) => t`Attendee did not return the recording (status ${status})`,
  attendee_no_file: ({ status }) =>
    t`Attendee's storage did not return the recording's file (status ${status})`,
  vexa_key: ({ status }) => t`Vexa refused the connection's API key (status ${status})`,
  vexa_no_meeting: ({ status }) => t`Vexa did not return the meeting (status ${status})`,
  vexa_unfinished: () => t`Vexa has not finished the recording's file yet`,
  vexa_no_recording: ({ status }) => t`Vexa did not return the recording (status ${status})`,
  vexa_no_file: ({ status }) => t`Vexa did not return the recording's file (status ${status})`,
  watch_volume: ({ folder }) => t`${folder} is empty or missing; mount its volume`,
  watch_store: () => t`The server could not read or store the file.`,
  watch_store_remedy: () => t`Ask the server's administrator; the server's log has the error.`,
  watch_quota_remedy: () => t`Free some space, or ask the server's administrator.`,
  watch_quota: ({ reason }) => t`Quota exceeded: ${reason}`,
  watch_skipped: ({ reason }) => t`Not a recording: ${reason}`,
  watch_empty: ({ file }) => t`${file} is empty.`,
  watch_empty_remedy: () => t`Copy the file again, or remove it.`,
  watch_large: ({ file, bytes, limit }) => {
    const [size, max] = [sizeText(Number(bytes)), sizeText(Number(limit))];
    return t`${file} has ${size}. The limit is ${max}.`;
  },
  watch_large_tracks: ({ file, bytes, limit }) => {
    const [size, max] = [sizeText(Number(bytes)), sizeText(Number(limit))];
    return t`${file} has ${size} with the tracks of its speakers. The limit is ${max}.`;
  },
  watch_large_remedy: () => t`Split or compress the recording, or raise PARLEY_MAX_UPLOAD_BYTES.`,
  watch_long: ({ file, size }) => {
    const max = sizeText(Number(size) * 1000);
    return t`${file} is larger than ${max}.`;
  },
  watch_long_remedy: () => t`Shorten or remove it.`,
  watch_unlisted: ({ folder, reason }) => t`${folder} can't be listed: ${reason}.`,
  watch_unlisted_remedy: () =>
    t`Check that the bucket exists at PARLEY_S3_ENDPOINT (or Amazon), and that the AWS credentials allow listing and reading it (s3:ListBucket, s3:GetObject; to move or delete also s3:PutObject, s3:DeleteObject).`,
  watch_changed: ({ file }) => t`${file} was changed or removed while it was read.`,
  watch_many: ({ folder, limit }) =>
    plural(Number(limit), {
      one: `${folder} has more than # file.`,
      other: `${folder} has more than # files.`,
    }),
  watch_many_remedy: () => t`Move some of them to sub-folders.`,
  watch_behind_link: ({ file }) => t`${file} is behind a symbolic link, which is not followed.`,
  watch_link: ({ file }) => t`${file} is a symbolic link, which is not followed.`,
  watch_link_remedy: () => t`Put the file itself into the folder.`,
  watch_no_folder: ({ folder }) => t`${folder} is not a folder.`,
  watch_no_folder_remedy: () => t`Name a folder in PARLEY_WATCH_DIRS.`,
  watch_missing: ({ folder }) => t`${folder} does not exist.`,
  watch_missing_remedy: () => t`Create it, mount its volume, or correct PARLEY_WATCH_DIRS.`,
  watch_permission: ({ user, folder }) => t`The user ${user} has no permission to read ${folder}.`,
  watch_permission_remedy: ({ user }) =>
    t`Give that user read access to the folder and its files (chmod, or chown ${user}).`,
  watch_data_folder: ({ folder }) => t`${folder} contains the data folder, or is in it.`,
  watch_data_folder_remedy: () => t`Name another folder in PARLEY_WATCH_DIRS.`,
  watch_own_files: ({ folder }) => t`${folder} contains the files of Parley, or is in them.`,
  watch_own_files_remedy: () => t`Name another prefix in PARLEY_WATCH_DIRS.`,
  watch_transcript: ({ file, reason }) => t`${file} is not a valid transcript: ${reason}`,
  watch_transcript_remedy: () =>
    t`Correct the transcript, or remove it to have the recording transcribed if a speech model is set up.`,
  watch_unknown: () => t`no reason is known any more`,
  model_unreachable: ({ host, reason }) =>
    t`${host} can't be reached: ${reason}; try again later, or set a model mirror or a proxy in Settings → Server settings`,
  model_damaged: ({ file, model }) =>
    t`${file} of ${model} does not match its SHA-256 and was refused; try again, or use another mirror`,
  model_no_file: ({ path }) => t`${path} is not a file`,
  model_file_missing: ({ path }) => t`there is no file ${path} on the server's machine; check the path`,
  model_file_unreadable: ({ path, reason }) => t`${path} can't be read: ${reason}`,
  model_no_gguf: ({ path }) => t`${path} is not a GGUF file`,
  model_differs: ({ file, model }) =>
    t`${file} does not match the SHA-256 recorded when ${model} was installed; check the files, or remove the model first`,
  model_copy_damaged: ({ file, model }) =>
    t`${file} of ${model} does not match its SHA-256 and was refused; copy it again`,
  model_no_room: (values) => {
    const free = sizeText(Number(values.free) * 1e6);
    const needed = sizeText(Number(values.needed) * 1e6);
    return t`the disk has ${free} free, and the model needs ${needed}; free some space and try again`;
  },
  model_mirror: () => t`the mirror must be an http or https URL`,
  model_disk_full: () =>
    t`the disk is full; free some space and try again, what was downloaded so far is kept`,
  model_store: () => t`the server could not store the model; its log has the details`,
  model_too_long: ({ bytes }) => {
    const size = sizeText(Number(bytes));
    return t`the file is ${size} large, but the server sent more`;
  },
};
