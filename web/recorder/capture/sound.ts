import { t } from "@lingui/core/macro";
import workletUrl from "./pcm-worklet.ts?worker&url";

/** The level of a source, for its meter. */
export interface Meter {
  /** 0 to 1 on a scale of decibels, of the sound just now. */
  level(): number;
}

export interface Sound {
  readonly sampleRate: number;
  /** Where the blocks of samples arrive, for the encoder. */
  readonly blocks: MessagePort;
  readonly microphone: Meter | null;
  readonly sharedSound: Meter | null;
  setMuted(isMuted: boolean): void;
  close(): Promise<void>;
}

/** Opus and AAC both take it. */
const sampleRate = 48_000;
/** Firefox starts no sound on a computer without an output, and doesn't say so. */
const startTimeoutMs = 10_000;
/** The quietest level that a meter shows. */
const floorDb = -60;

/**
 * Microphone in the left channel, shared sound in the right one: so each side of a call stays on its own.
 * @throws Error if the browser can't process sound.
 */
export async function mixSound(tracks: {
  readonly microphone: MediaStreamTrack | null;
  readonly sharedSound: MediaStreamTrack | null;
}): Promise<Sound> {
  const context = new AudioContext({ sampleRate, latencyHint: "balanced" });
  await context.audioWorklet.addModule(workletUrl);
  const merger = new ChannelMergerNode(context, { numberOfInputs: 2 });
  const connect = (track: MediaStreamTrack | null, channel: 0 | 1): GainNode | null => {
    if (track === null) return null;
    const gain = new GainNode(context, { channelCount: 1, channelCountMode: "explicit" });
    context.createMediaStreamSource(new MediaStream([track])).connect(gain);
    gain.connect(merger, 0, channel);
    return gain;
  };
  const microphone = connect(tracks.microphone, 0);
  const sharedSound = connect(tracks.sharedSound, 1);
  const tap = new AudioWorkletNode(context, "pcm-tap", {
    channelCount: 2,
    channelCountMode: "explicit",
    channelInterpretation: "discrete",
  });
  // Its output is silence; without a destination the node would not run.
  merger.connect(tap).connect(context.destination);
  const { port1, port2 } = new MessageChannel();
  tap.port.postMessage(port1, [port1]);
  await start(context);
  return {
    sampleRate,
    blocks: port2,
    microphone: microphone && meterOf(context, microphone),
    sharedSound: sharedSound && meterOf(context, sharedSound),
    setMuted(isMuted) {
      microphone?.gain.setTargetAtTime(isMuted ? 0 : 1, context.currentTime, 0.01);
    },
    close: () => context.close(),
  };
}

async function start(context: AudioContext): Promise<void> {
  let timer = 0;
  const timeout = new Promise<never>((_, reject) => {
    timer = window.setTimeout(() => {
      void context.close();
      reject(
        new Error(t`The browser's sound doesn't start. Connect speakers or headphones, and reload the page.`),
      );
    }, startTimeoutMs);
  });
  await Promise.race([context.resume(), timeout]).finally(() => clearTimeout(timer));
}

function meterOf(context: AudioContext, node: AudioNode): Meter {
  const analyser = new AnalyserNode(context, { fftSize: 1024 });
  node.connect(analyser);
  const samples = new Float32Array(analyser.fftSize);
  return {
    level() {
      analyser.getFloatTimeDomainData(samples);
      const power = samples.reduce((sum, value) => sum + value * value, 0) / samples.length;
      const decibels = power === 0 ? floorDb : 10 * Math.log10(power);
      return Math.min(1, Math.max(0, 1 - decibels / floorDb));
    },
  };
}
