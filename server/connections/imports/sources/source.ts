import type { Readable } from "node:stream";
import type { z } from "zod";
import type { PortableEntry, PortableRecording } from "../../../../contract/recordings/portable.ts";
import type { MediaFormat } from "../../../../shared/files/media-formats.ts";

/** An open media file of a source. */
export interface SourceMedia {
  readonly format: MediaFormat;
  /** The name of its file, if it has one: the title of a recording without another. */
  readonly name?: string;
  readonly body: Readable;
  /** The body consists of several files, one behind the other, that are parts of the recording. */
  readonly parts?: { bytes: number }[];
}

/** A recording of a source with everything that is known about it. */
export interface SourceRecording {
  readonly recording: Omit<z.input<typeof PortableRecording>, "files">;
  readonly entries: readonly PortableEntry[];
  /** Opens the media file; null: there is none. May be called again after an error. */
  readonly openMedia: (() => Promise<SourceMedia | null>) | null;
  /** Whether this workspace determines the participants' scopes and who attended; otherwise the source did. */
  readonly derivesScopes?: boolean;
  /** Whether it is shared as new recordings of this workspace are, rather than as `share_state` says. */
  readonly sharesByDefault?: boolean;
  /** What the source has but doesn't give away, by code. */
  readonly omitted?: Readonly<Record<string, number>>;
}

/** A recording in the list of a source. */
export interface SourceItem {
  /** Its id there. */
  readonly oldId: string;
  readonly mediaType: "video" | "audio" | "transcript";
  /** @throws RecordingError when this one can't be read. */
  load(): Promise<SourceRecording>;
}

/** Where recordings are imported from: a service, or files on disk. */
export interface ImportSource {
  /** As `parley import --from` names it. */
  readonly kind: string;
  /** Tells sources of a kind apart: the service's URL, or a name of the folder. */
  readonly origin: string;
  /** Whether it is read from this machine's disk, so that also a dry run opens each media file. */
  readonly isLocal?: boolean;
  /** What was assumed and which files were not read, for the user; complete after `list`. */
  notes?(): readonly string[];
  /** Emails of the users there; null: not known before the recordings are read. */
  emails(): Promise<readonly string[] | null>;
  /** Every recording, in any order. @throws ImportError */
  list(): AsyncIterable<SourceItem>;
  close?(): Promise<void>;
}
