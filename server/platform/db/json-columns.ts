import type { ColumnType } from "kysely";
import type { SecurityRules } from "../../../contract/accounts/security.ts";
import type { RecordingFields } from "../../../contract/recordings/fields.ts";
import type { MediaContainer } from "../../../shared/files/media-formats.ts";

/**
 * What JSON columns hold. These types are here, and not in the features, because the generated types of the tables use
 * them (scripts/generate-db-types.ts).
 */

/** Written as text, because pg would send a JavaScript array as a PostgreSQL array. */
export type JsonColumn<T> = ColumnType<T, string, string>;

/** recordings.calendar_event, as a meeting sets it. */
export type CalendarEventTimes = NonNullable<RecordingFields["calendar_event"]>;

/** calendar_events.organizer. */
export interface CalendarPerson {
  readonly name: string | null;
  readonly email: string | null;
}

/** calendar_events.attendees. */
export interface Invited extends CalendarPerson {
  readonly declined?: true;
}

/** calendars.unread_examples. */
export interface UnreadEvent {
  readonly title: string | null;
  readonly reason: string;
}

/** uploads.facts: what was measured in a valid file. */
export interface MediaFacts {
  readonly container: MediaContainer;
  /** Whether it becomes a video or an audio recording. */
  readonly mediaType: "video" | "audio";
  readonly durationMs: number;
  readonly sizeBytes: number;
  /** Null for audio. Displayed size in pixels, after rotation. */
  readonly video: {
    readonly codec: string;
    readonly width: number;
    readonly height: number;
    /** Degrees clockwise: 0, 90, 180 or 270. */
    readonly rotation: number;
    /** Longest time between two keyframes, in ms. */
    readonly maxKeyframeGapMs: number;
  } | null;
  /** Null where a one-step video has no sound. */
  readonly audio: { readonly codec: string; readonly channels: number; readonly sampleRate: number } | null;
  /** Every audio track, where there are several. */
  readonly audioTracks?: readonly AudioTrackFacts[];
  /** When the recording started, as the container states it. */
  readonly startedAt?: string;
  /** The title that the container states, unless it is only the name of a program. */
  readonly title?: string;
  /** When the recording started, and how that is known. */
  readonly start?: StartTime;
  /** The files that were sent as one, where they were several. */
  readonly parts?: readonly MediaPart[];
  /** The file was cut off, and only its beginning can be played. */
  readonly endsEarly?: EndsEarly;
  /** Whether the index stands before the media, so that it plays while it loads (always true for mp3). */
  readonly isFastStart: boolean;
  /** Whether the file can be served as it is; otherwise it has to be remuxed or transcoded. */
  readonly isStoredForm: boolean;
}

/** recording_media.ends_early: a recording whose file was cut off. */
export interface EndsEarly {
  /** How long the file should be; null: it doesn't say. */
  readonly expected_ms: number | null;
}

/** When a recording started: stated by its container or its name, or derived from the time of the last change. */
export interface StartTime {
  readonly at: string;
  readonly from: "container" | "name" | "modified";
}

/** What the sender of a file knows about it. */
export interface ImportedFile {
  readonly name: string | null;
  /** The time of its last change. */
  readonly modified: string | null;
  /** Time zone of the times in names, such as Europe/Berlin; null: that of the server. */
  readonly timeZone: string | null;
}

/** One of several files that were sent as one. */
export interface MediaPart {
  /** Where its bytes begin, and where the next begin. */
  readonly start: number;
  readonly end: number;
  readonly container: MediaContainer;
  readonly durationMs: number;
  /** The one speaker of a separate sound track; null: the file is a part of the recording. */
  readonly speaker: string | null;
}

/** An audio track of a file with several. */
export interface AudioTrackFacts {
  readonly codec: string;
  /** Its index among the streams of the file. Absent in rows of earlier versions, and for mp4. */
  readonly stream?: number;
  readonly channels: number;
  /** Null where the file names none. */
  readonly title: string | null;
  readonly language: string | null;
}

/** What an import adds to a participant of an upload. */
export interface ParticipantExtra {
  readonly crm_contact_id?: string | null;
  readonly confirmed_attendee?: boolean;
  readonly attended?: boolean;
  /** Timestamps as the API writes them. */
  readonly observed_join_time?: string | null;
  readonly observed_leave_time?: string | null;
  /** As another installation determined it; absent: determined by the email. */
  readonly scope?: "internal" | "external" | "unknown";
  /** A calendar says that they were invited; until a user confirms that they took part, they get no access. */
  readonly is_invited?: boolean;
}

/** What a recording from another installation has beyond the attributes of an import. Removed once it is a recording. */
export interface ImportedData {
  /** As the source states it, of a recording without a file. Absent in rows of earlier versions. */
  readonly duration_ms?: number;
  readonly meeting_type_id: string | null;
  readonly meeting_type_by_hand: boolean;
  readonly ai_summary: string | null;
  /** Absent in rows of earlier versions; null: the summary is no list of proven points. */
  readonly ai_summary_points?: readonly object[] | null;
  /** `assignee` is an index of the participants. */
  readonly ai_action_items: readonly {
    readonly status: "pending" | "completed";
    readonly timestamp: number;
    readonly text: string;
    /** Absent in rows of earlier versions, as the next. */
    readonly quote?: string | undefined;
    readonly due_date?: string | null | undefined;
    readonly assignee: number | null;
  }[];
  readonly ai_template_sections: readonly object[];
  /** Absent in rows of earlier versions, as the next. */
  readonly ai_chapters?: readonly {
    readonly title: string;
    readonly start: number;
    readonly quote: string;
  }[];
  readonly chapters_by_hand?: boolean;
  readonly highlights: readonly {
    readonly text: string;
    readonly start_ms: number;
    readonly duration_ms: number;
    readonly tags: readonly string[];
    readonly created_at: string;
    readonly created_by: string | null;
  }[];
  readonly shared_user_ids: readonly string[];
  readonly private_notes: readonly { readonly user_id: string; readonly text: string }[];
  /** Absent in rows of earlier versions. */
  readonly comments?: readonly ImportedComment[];
  /** Names of the speakers that are not participants, by speaker_key. */
  readonly speakers: Readonly<Record<string, string>>;
  /** As transcript_segments.word_times has it, for each segment of the transcript; null: of none. */
  readonly word_times: readonly (readonly (number | null)[] | null)[] | null;
}

/** A comment of a recording that is moved here. */
export interface ImportedComment {
  /** The index of the comment that it replies to. */
  readonly parent: number | null;
  /** null: the comment was deleted, or its author is no user here. */
  readonly user_id: string | null;
  readonly text: string;
  readonly timestamp: number | null;
  readonly mentioned_ids: readonly string[];
  readonly reactions: readonly { readonly emoji: string; readonly user_id: string }[];
  readonly created_at: string;
  readonly edited_at: string | null;
  readonly resolved_at: string | null;
  readonly resolved_by: string | null;
}

/** An element of uploads.participants, as the client sent it. */
export interface UploadParticipant {
  readonly name: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly speaker_key: string | null;
  /** Of an import. */
  readonly extra?: ParticipantExtra;
}

/** A highlight that an import creates with its recording. Times in milliseconds. */
export interface ImportedHighlight {
  readonly text: string;
  readonly start: number;
  readonly duration: number;
  readonly tags: readonly string[];
}

/** Missing and null alike: nobody gave one. */
type GivenFields = { readonly [Name in keyof RecordingFields]?: RecordingFields[Name] | null };

/** uploads.import_data: what an import adds to the attributes of an upload. */
export interface ImportData extends GivenFields {
  /** The format that its file is said to have; null for a transcript alone. */
  readonly format: string | null;
  /** Absent in rows of earlier versions, as are the next two. */
  readonly file?: ImportedFile;
  /** Set where the sender gave no title: that of the file's name; null: it says nothing. A title in the file replaces it. */
  readonly derived_title?: string | null;
  /** What becomes of several audio tracks; ask: the upload waits for its review. */
  readonly audio_tracks?: "mix" | "speakers" | "ask";
  /** The files that are sent as one; null: a single one. */
  readonly parts?: readonly { readonly bytes: number; readonly speaker: string | null }[] | null;
  /** The file's key in the store; null: the file is sent. */
  readonly media_key: string | null;
  readonly team_ids: readonly string[];
  /** Chosen by a user; null: decided by the participants. */
  readonly meeting_type_id: string | null;
  /** `participant` is an index of the participants. */
  readonly screenshares: readonly { start: number; end: number; participant: number }[];
  readonly moved?: ImportedData;
  /** Absent in rows of earlier versions. */
  readonly highlights?: readonly ImportedHighlight[];
  /** Private notes of the upload's creator. Removed once it is a recording. */
  readonly notes?: string | null;
}

/** uploads.transcript_info: what an upload keeps of its transcript once the copy is removed. */
export interface TranscriptInfo {
  readonly language: string;
  /** Size of the copy as JSON. */
  readonly bytes: number;
  /** The speakers that are not participants. */
  readonly speakers: readonly { readonly speaker_key: string; readonly name: string }[];
}

/** What an edit changes in a segment; never its times. */
export interface SegmentValues {
  readonly text?: string;
  readonly speaker?: string;
  readonly participant_id?: string | null;
}

/** Segments that an edit changes in the same way. */
export interface SegmentChange {
  readonly positions: readonly number[];
  readonly before: SegmentValues;
  readonly after: SegmentValues;
}

interface ParticipantValues {
  readonly name?: string;
  readonly confirmed_attendee?: boolean;
  readonly is_invited?: boolean;
}

export interface ParticipantChange {
  readonly id: string;
  readonly before: ParticipantValues;
  readonly after: ParticipantValues;
}

/** transcript_edits.changes: everything an edit writes, with the values before it. No segment is named twice. */
export interface TranscriptChanges {
  readonly segments: readonly SegmentChange[];
  readonly participants: readonly ParticipantChange[];
}

/** workspaces.security_rules: the rules, and since when those hold that depend on it. Timestamps as the API writes them. */
export interface StoredRules extends SecurityRules {
  /** Since when admins, and since when all users, need a second factor; null: they don't. */
  readonly admins_since: string | null;
  readonly all_since: string | null;
  readonly single_sign_on_since: string | null;
}
