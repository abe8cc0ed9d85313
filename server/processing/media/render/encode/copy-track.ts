import { AV_NOPTS_VALUE } from "node-av/constants";
import type { Stream } from "node-av/lib";
import { check } from "../libav.ts";
import type { Output, Track } from "./output.ts";

/** Copies a track unchanged, with its rotation and its times. */
export function copyTrack(source: Stream, output: Output): Track {
  const target = output.context.newStream(null);
  check(source.codecpar.copy(target.codecpar), "copy a track");
  // The name of a codec in one container may mean nothing in another.
  target.codecpar.codecTag = 0;
  target.timeBase = source.timeBase;
  target.avgFrameRate = source.avgFrameRate;
  target.sampleAspectRatio = source.sampleAspectRatio;
  let lastDts: bigint | null = null;
  return {
    source,
    push: (packet) => {
      packet.rescaleTs(source.timeBase, target.timeBase);
      // The container requires increasing times; damaged files don't always have them.
      if (packet.dts === AV_NOPTS_VALUE || (lastDts !== null && packet.dts <= lastDts)) {
        packet.dts = lastDts === null ? 0n : lastDts + 1n;
      }
      if (packet.pts === AV_NOPTS_VALUE || packet.pts < packet.dts) packet.pts = packet.dts;
      lastDts = packet.dts;
      output.write(packet, target);
    },
    finish: () => undefined,
    close: () => undefined,
  };
}
