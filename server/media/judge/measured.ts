import type { MediaContainer } from "../facts.ts";

/** What was found in a file, before anybody asks whether it is allowed. */
export interface MeasuredMedia {
  readonly container: MediaContainer;
  readonly sizeBytes: number;
  /** What a player shows, from the samples that are really there: the longest of the tracks. */
  readonly durationSec: number;
  /** Without still pictures such as cover art. */
  readonly videos: readonly MeasuredVideo[];
  readonly audios: readonly MeasuredAudio[];
  readonly isFastStart: boolean;
  readonly isFragmented: boolean;
}

export interface MeasuredVideo {
  /** As ffmpeg calls it; the four letters of the file where the codec is not known. */
  readonly codec: string;
  readonly isDecodable: boolean;
  /** As shown, after rotation. */
  readonly width: number;
  readonly height: number;
  /** Degrees clockwise: 0, 90, 180 or 270. */
  readonly rotation: number;
  readonly maxKeyframeGapSec: number;
}

export interface MeasuredAudio {
  readonly codec: string;
  readonly isDecodable: boolean;
  readonly channels: number;
  readonly sampleRate: number;
}
