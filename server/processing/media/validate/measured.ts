import type { MediaContainer } from "../../../../shared/files/media-formats.ts";

/** Measured properties of a file, before they are checked against the requirements. */
export interface MeasuredMedia {
  readonly container: MediaContainer;
  readonly sizeBytes: number;
  /** The duration a player shows, from the samples actually present: the longest of the tracks. */
  readonly durationSec: number;
  /** Without still pictures such as cover art. */
  readonly videos: readonly MeasuredVideo[];
  readonly audios: readonly MeasuredAudio[];
  /** When the recording started, as the container states it. */
  readonly startedAt?: string | undefined;
  /** The streams that stand one after the other in the file, where there are several. */
  readonly parts?: readonly {
    readonly start: number;
    readonly end: number;
    readonly container: MediaContainer;
    readonly durationSec: number;
  }[];
  /** As the container states it, unless it is only the name of a program. */
  readonly title?: string | undefined;
  /** The file was cut off, and only its beginning was measured; null: its whole length is unknown. */
  readonly endsEarly?: { readonly expectedSec: number | null } | undefined;
  readonly isFastStart: boolean;
  readonly isFragmented: boolean;
  /** Whether browsers find any time of the file exactly; absent where the container lists the position of every frame. */
  readonly isExactlySeekable?: boolean;
}

export interface MeasuredVideo {
  /** ffmpeg's name; the file's four letters when the codec is unknown. */
  readonly codec: string;
  readonly isDecodable: boolean;
  /** As shown, after rotation. */
  readonly width: number;
  readonly height: number;
  /** As encoded, before rotation. */
  readonly codedHeight: number;
  /** Degrees clockwise: 0, 90, 180 or 270. */
  readonly rotation: number;
  readonly maxKeyframeGapSec: number;
}

export interface MeasuredAudio {
  readonly codec: string;
  /** Its index among the streams; absent where it was not read. */
  readonly stream?: number | undefined;
  readonly isDecodable: boolean;
  readonly channels: number;
  readonly sampleRate: number;
  /** Absent where the file names none. */
  readonly title?: string | undefined;
  readonly language?: string | undefined;
}
