import { AV_NOPTS_VALUE } from "node-av/constants";
import type { Packet, Stream } from "node-av/lib";
import type { MediaContainer } from "../../../../shared/files/media-formats.ts";
import { type Input, secondsOf } from "./libav.ts";

/**
 * A file of the mp4 family that begins later than this has the beginning moved to 0; less is the delay of its encoders,
 * which its lists of edits undo.
 */
const maxDelaySec = 0.1;

/**
 * Where a file's clock stands when the first of its tracks begins: the recording counts from there, in the player, the
 * waveform and the transcript alike.
 */
export function startOf({ video, audios }: Input, container: MediaContainer): number {
  // An mp3 begins with its encoder's delay, which players skip.
  if (container === "mp3") return 0;
  const starts = [video, ...audios].flatMap((stream) => {
    const sec = stream === null ? null : secondsOf(stream.startTime, stream);
    return sec === null ? [] : [sec];
  });
  const start = starts.length === 0 ? 0 : Math.min(...starts);
  const isMp4 = container === "mp4" || container === "mov" || container === "m4a";
  return isMp4 && start <= maxDelaySec ? 0 : start;
}

/** Moves the times of a packet, so that its file begins at 0. */
export function moveEarlier(packet: Packet, sec: number, { timeBase: { num, den } }: Stream): void {
  const ticks = BigInt(Math.round((sec * den) / num));
  if (packet.pts !== AV_NOPTS_VALUE) packet.pts -= ticks;
  if (packet.dts !== AV_NOPTS_VALUE) packet.dts -= ticks;
}
