import { AV_CHANNEL_LAYOUT_MONO, AV_SAMPLE_FMT_S16 } from "node-av/constants";
import { avChannelLayoutDefault, type ChannelLayout, type Frame, SoftwareResampleContext } from "node-av/lib";
import { check } from "../libav.ts";

/** Converts frames of any rate, format and number of channels to 16-bit samples of one rate and one layout. */
export interface Resampler {
  /** Null: flushes the filter. The samples, interleaved by channel, are valid until the next call. */
  convert(frame: Frame | null): Int16Array;
  close(): void;
}

/**
 * libswresample's filter removes what the lower rate cannot represent, so that high tones don't alias to low ones.
 * @param target the channels of the result.
 */
export function openResampler(rate: number, target: ChannelLayout = AV_CHANNEL_LAYOUT_MONO): Resampler {
  let open: { key: string; context: SoftwareResampleContext } | null = null;
  let out = Buffer.alloc(0);

  const room = (samples: number): Buffer => {
    const bytes = samples * 2 * target.nbChannels;
    if (out.length < bytes) out = Buffer.alloc(bytes * 2);
    return out;
  };
  const samplesOf = (count: number): Int16Array => {
    check(count, "resample");
    return new Int16Array(out.buffer, out.byteOffset, count * target.nbChannels);
  };
  return {
    convert: (frame) => {
      if (frame === null) {
        if (open === null) return new Int16Array(0);
        const most = open.context.getOutSamples(0) + 64;
        return samplesOf(open.context.convertSync([room(most)], most, null, 0));
      }
      const key = `${frame.sampleRate}:${frame.format}:${frame.channels}:${frame.channelLayout.mask}`;
      // Damaged files may change these midway; the few samples held back are then lost.
      if (open?.key !== key) {
        open?.context.free();
        open = { key, context: newContext(frame, rate, target) };
      }
      const most = open.context.getOutSamples(frame.nbSamples) + 64;
      return samplesOf(
        open.context.convertSync([room(most)], most, frame.extendedData ?? [], frame.nbSamples),
      );
    },
    close: () => open?.context.free(),
  };
}

/** The channels of a frame; damaged frames may have channels without a layout. */
export function layoutOf(frame: Frame): ChannelLayout {
  return frame.channelLayout.mask === 0n ? avChannelLayoutDefault(frame.channels) : frame.channelLayout;
}

function newContext(frame: Frame, rate: number, target: ChannelLayout): SoftwareResampleContext {
  const context = new SoftwareResampleContext();
  check(
    context.allocSetOpts2(
      target,
      AV_SAMPLE_FMT_S16,
      rate,
      layoutOf(frame),
      frame.format as Parameters<SoftwareResampleContext["allocSetOpts2"]>[4],
      frame.sampleRate,
    ),
    "set up the resampler",
  );
  check(context.init(), "set up the resampler");
  return context;
}
