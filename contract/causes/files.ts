import type { Cause } from "./causes.ts";

/**
 * Why an upload failed: codes, and the values that a text of the cause names. Unlike those of requests, the English
 * sentences stand where they are composed, because they also have commands and details for the user's own programs.
 */
export interface FileCauses {
  readonly wrong_container: { readonly container: string; readonly wanted: string };
  readonly video_track_missing: None;
  readonly too_many_video_tracks: { readonly count: number };
  readonly wrong_video_codec: { readonly codec: string };
  readonly video_too_high: { readonly height: number; readonly max: number };
  readonly keyframes_too_far: { readonly seconds: number; readonly max: number };
  readonly audio_track_missing: None;
  readonly wrong_audio_codec: { readonly codec: string; readonly wanted: string };
  readonly extension_differs: { readonly extension: string; readonly container: string };
  readonly tracks_missing: None;
  readonly not_decodable: { readonly codecs: string };
  readonly recording_too_short: { readonly seconds: number; readonly min: number };
  readonly recording_too_long: { readonly seconds: number; readonly max: number };
  readonly file_too_big: { readonly bytes: number; readonly max: number };
  readonly file_empty: None;
  readonly file_only_zeros: None;
  readonly not_a_recording: None;
  readonly file_damaged: None;
  readonly file_incomplete: None;
  readonly check_failed: None;
  readonly processing_too_slow: { readonly seconds: number };
  readonly memory_exceeded: None;
  readonly output_too_large: None;
  readonly too_many_streams: { readonly count: number; readonly max: number };
  readonly codec_unsupported: { readonly wanted: string };
  /** The causes after it are about this part of several. */
  readonly part_failed: { readonly number: number };
  readonly parts_incomplete: { readonly expected: number; readonly sent: number };
  readonly only_speaker_tracks: None;
  readonly file_never_arrived: { readonly time: string };
  readonly file_expired: { readonly time: string };
  readonly never_finished: { readonly minutes: number };
  readonly stopped_by_admin: None;
  readonly creator_deactivated: None;
  readonly data_unfit: None;
  readonly file_removed: None;
}

type None = Readonly<Record<never, never>>;

export type FileCause = keyof FileCauses;

/** A cause of a failed upload. */
export function fileCause<Code extends FileCause>(code: Code, values: FileCauses[Code]): Cause {
  return { code, values: Object.fromEntries(Object.entries(values)) };
}
