import { AV_CODEC_FLAG_BITEXACT, AV_CODEC_FLAG_GLOBAL_HEADER, AVFMT_GLOBALHEADER } from "node-av/constants";
import { Codec, CodecContext, type Frame, Packet, type Stream } from "node-av/lib";
import { MachineError } from "../errors.ts";
import { check, setOptions } from "../libav.ts";
import type { Output } from "./output.ts";

/** An encoder that writes to its own track. */
export interface Encoder {
  /** Null: the end. */
  push(frame: Frame | null): void;
  close(): void;
}

/** @param setUp sets sizes, rates and times before the encoder opens. */
export function openEncoder(
  output: Output,
  name: string,
  options: Record<string, string | number>,
  setUp: (context: CodecContext) => void,
): Encoder {
  const codec = Codec.findEncoderByName(name as Parameters<typeof Codec.findEncoderByName>[0]);
  if (codec === null) throw new MachineError(`libav has no encoder ${name}`);
  const context = new CodecContext();
  context.allocContext3(codec);
  setUp(context);
  context.setFlags(AV_CODEC_FLAG_BITEXACT);
  if (output.context.oformat?.hasFlags(AVFMT_GLOBALHEADER)) context.setFlags(AV_CODEC_FLAG_GLOBAL_HEADER);
  setOptions(context, options);
  check(context.open2Sync(codec, null), `open the encoder ${name}`);
  const target: Stream = output.context.newStream(null);
  check(target.codecpar.fromContext(context), "describe a track");
  target.timeBase = context.timeBase;
  const packet = new Packet();
  packet.alloc();
  return {
    push: (frame) => {
      check(context.sendFrameSync(frame), "encode");
      while (context.receivePacketSync(packet) >= 0) {
        packet.rescaleTs(context.timeBase, target.timeBase);
        output.write(packet, target);
      }
    },
    close: () => {
      packet.free();
      context.freeContext();
    },
  };
}
