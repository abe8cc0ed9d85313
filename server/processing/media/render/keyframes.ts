import { AV_FRAME_FLAG_CORRUPT, AV_FRAME_FLAG_INTERLACED, AVSEEK_FLAG_BACKWARD } from "node-av/constants";
import type { Frame, Packet, Stream } from "node-av/lib";
import { type Graph, openGraph } from "./encode/graph.ts";
import { type Rgb, rotate } from "./encode/rgb.ts";
import { pictureSource } from "./encode/video.ts";
import {
  decode,
  displaySize,
  type Input,
  newFrame,
  openDecoder,
  packetsOf,
  readOnly,
  rotationOf,
  secondsOf,
} from "./libav.ts";

/** Packets that may be read beyond the keyframes in total, when keyframes don't decode by themselves. */
const extraPackets = 600;

/** The result of `at`: when the picture is shown, and whether the decoder had to conceal missing parts. */
interface Found {
  readonly timeMs: number;
  readonly isCorrupt: boolean;
}

/** Reads single pictures of a video. */
export interface Keyframes {
  /** As shown: after rotation, with square pixels. */
  readonly size: { readonly width: number; readonly height: number };
  /**
   * Seeks to the last keyframe at or before a time (the first one if there is none before). Null when nothing decodes.
   * The picture is valid until the next call.
   */
  at(timeMs: number): Found | null;
  /** The picture that `at` found, rotated upright, in the given size. */
  picture(size: { width: number; height: number }): Rgb;
  close(): void;
}

/** @throws MediaFailedError when there is no decoder for the video. */
export function openKeyframes(input: Input, video: Stream): Keyframes {
  readOnly(input, video);
  // One thread: with more, a picture comes out only after others have been fed.
  const decoder = openDecoder(video, 1);
  const scaler = openScaler(video);
  const received = newFrame();
  const shown = newFrame();
  const rotation = rotationOf(video);
  let packetsLeft = extraPackets;
  /** The position and result of the last keyframe: neighbouring times often share one. */
  let last: { position: bigint; found: Found | null } | null = null;

  /** Seeks to the keyframe and yields the packets from there. */
  const packetsFrom = function* (timeMs: number): Generator<Packet, void, void> {
    const { num, den } = video.timeBase;
    const target = BigInt(Math.round(((timeMs / 1000) * den) / num));
    if (input.context.seekFrameSync(video.index, target, AVSEEK_FLAG_BACKWARD) < 0) {
      // The first keyframe is later, or the index is unusable: from the beginning.
      input.context.seekFrameSync(video.index, 0n, AVSEEK_FLAG_BACKWARD);
    }
    for (const packet of packetsOf(input)) if (packet.streamIndex === video.index) yield packet;
  };

  /** Decodes packets until a picture comes out, which is stored in `shown`. */
  const decodeOne = (packets: Iterable<Packet>): Found | null => {
    let isFound = false;
    const use = (): void => {
      if (isFound) return;
      isFound = true;
      shown.unref();
      shown.ref(received);
    };
    for (const packet of packets) {
      decode(decoder, packet, received, use);
      if (isFound) break;
    }
    // The decoder holds a picture back for others that may precede it, until the end.
    if (!isFound) decode(decoder, null, received, use);
    decoder.flushBuffers();
    if (!isFound) return null;
    const seconds = secondsOf(shown.bestEffortTimestamp, video) ?? 0;
    const isCorrupt = (shown.flags & AV_FRAME_FLAG_CORRUPT) !== 0 || shown.decodeErrorFlags !== 0;
    return { timeMs: Math.max(0, Math.round(seconds * 1000)), isCorrupt };
  };

  const at = (timeMs: number): Found | null => {
    for (const packet of packetsFrom(timeMs)) {
      if (last?.position !== packet.pos) last = { position: packet.pos, found: decodeOne([packet]) };
      break;
    }
    if (last?.found || packetsLeft <= 0) return last?.found ?? null;
    return decodeOne(
      (function* () {
        for (const packet of packetsFrom(timeMs)) {
          if (packetsLeft-- <= 0) return;
          yield packet;
        }
      })(),
    );
  };

  return {
    size: displaySize(video),
    at,
    picture: (size) => {
      const upright = rotation % 180 === 0 ? size : { width: size.height, height: size.width };
      return rotate(scaler.toRgb(shown, upright), rotation);
    },
    close: () => {
      decoder.freeContext();
      scaler.close();
      received.free();
      shown.free();
    },
  };
}

/** Scales single pictures by the same filters as videos, which accept any format and interlaced pictures. */
function openScaler(video: Stream) {
  let open: { key: string; graph: Graph } | null = null;
  const passed = newFrame();
  return {
    toRgb: (frame: Frame, size: { width: number; height: number }): Rgb => {
      const isInterlaced = (frame.flags & AV_FRAME_FLAG_INTERLACED) !== 0;
      const source = pictureSource(frame, video);
      const key = `${source}:${isInterlaced}:${size.width}x${size.height}`;
      if (open?.key !== key) {
        open?.graph.close();
        open = {
          key,
          graph: openGraph([
            ["buffer", source],
            // The two fields of an interlaced picture show different times.
            ...(isInterlaced ? ([["field", "type=top"]] as const) : []),
            ["scale", `w=${size.width}:h=${size.height}:flags=area`],
            ["format", "pix_fmts=rgb24"],
            ["buffersink", ""],
          ]),
        };
      }
      let data: Uint8Array | null = null;
      // The graph takes the frame that it is given.
      passed.ref(frame);
      open.graph.run(passed, (out) => {
        data = out.toBuffer();
      });
      if (data === null) throw new Error("scale a picture: no picture came out");
      return { data, ...size };
    },
    close: () => {
      open?.graph.close();
      passed.free();
    },
  };
}
