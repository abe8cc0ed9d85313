import type { Piece } from "../outbox/pieces.ts";

/** To the encoder, once. The tracks are transferred. */
export interface StartMessage {
  readonly type: "start";
  readonly folder: FileSystemDirectoryHandle;
  readonly sampleRate: number;
  /** Blocks of two channels, the left one first. */
  readonly audio: MessagePort;
  readonly picture: {
    readonly width: number;
    readonly height: number;
    readonly main: ReadableStream<VideoFrame>;
    /** Shown in a corner. */
    readonly camera: ReadableStream<VideoFrame> | null;
  } | null;
}

export type ToEncoder = StartMessage | { readonly type: "pause" | "resume" | "stop" };

export type FromEncoder =
  /** The recording has arrived at this time. */
  | { readonly type: "time"; readonly ms: number }
  /** A piece is stored. */
  | { readonly type: "piece"; readonly piece: Piece }
  /** After `stop`: everything is stored. */
  | { readonly type: "done" }
  | { readonly type: "failed"; readonly cause: "storage_full" }
  /** @property message the browser's own. */
  | { readonly type: "failed"; readonly cause: "other"; readonly message: string };
