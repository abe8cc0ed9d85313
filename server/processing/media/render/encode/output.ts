import { AVFMT_FLAG_BITEXACT } from "node-av/constants";
import { FormatContext, type Packet, type Stream } from "node-av/lib";
import { MediaFailedError } from "../errors.ts";
import { check, checkWrite, isSystemCode, secondsOf } from "../libav.ts";

/** A track being written to the new file. */
export interface Track {
  readonly source: Stream;
  /** Accepts the next packet of the source. */
  push(packet: Packet): void;
  /** The source has ended. @throws MediaFailedError when nothing could be produced from it. */
  finish(): void;
  close(): void;
}

/** The file being written. */
export interface Output {
  readonly context: FormatContext;
  /** Writes a packet, with times in the time base of `target`. */
  write(packet: Packet, target: Stream): void;
  /** Where the last packet ended. */
  readonly endSec: () => number;
}

/** Creates a file; add its tracks next, then its header. @throws MachineError when it cannot be created. */
export function openOutput(path: string, format: string): Output {
  const context = new FormatContext();
  check(context.allocOutputContext2(null, format, `file:${path}`), "allocate the output");
  context.setFlags(AVFMT_FLAG_BITEXACT);
  checkWrite(context.openOutputSync(), "open the output");
  let endSec = 0;
  let refused = 0;
  return {
    context,
    endSec: () => endSec,
    write: (packet, target) => {
      packet.streamIndex = target.index;
      packet.pos = -1n;
      const end = secondsOf(packet.pts + packet.duration, target);
      const code = context.interleavedWriteFrameSync(packet);
      if (code >= 0) {
        if (end !== null && end > endSec) endSec = end;
        return;
      }
      // A packet whose times or content the container cannot hold is dropped; a full disk is an error of the machine.
      if (isSystemCode(code)) checkWrite(code, "write a packet");
      refused += 1;
      if (refused > 1000) throw new MediaFailedError("Too much of the file is damaged.", "packets refused");
    },
  };
}
