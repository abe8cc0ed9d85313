import {
  closeInput,
  decode,
  newFrame,
  openDecoder,
  openInput,
  packetsOf,
  readOnly,
  silenceLibraries,
} from "../../server/processing/media/render/libav.ts";

/** How loud a tone is in one channel: an amplitude per window. */
export type ToneLevels = readonly number[];

/** How long a window is. */
export const windowMs = 100;

/**
 * Measures a tone in the sound of an mp4 or mp3, as libav decodes it.
 * @returns for each channel the tone's amplitude in each window.
 */
export function measureTone(path: string, hertz: number): ToneLevels[] {
  silenceLibraries();
  const input = openInput(path, path.endsWith(".mp3") ? "mp3" : "mp4");
  if (input.audio === null) throw new Error(`${path} has no sound`);
  readOnly(input, input.audio);
  const decoder = openDecoder(input.audio, 1);
  const frame = newFrame();
  const channels: ReturnType<typeof createMeter>[] = [];
  const use = (): void => {
    for (const [index, plane] of (frame.extendedData ?? []).entries()) {
      channels[index] ??= createMeter(frame.sampleRate, hertz);
      channels[index].add(new Float32Array(plane.buffer, plane.byteOffset, frame.nbSamples));
    }
  };
  for (const packet of packetsOf(input))
    if (packet.streamIndex === input.audio.index) decode(decoder, packet, frame, use);
  decode(decoder, null, frame, use);
  decoder.freeContext();
  frame.free();
  closeInput(input);
  return channels.map(({ levels }) => levels);
}

function createMeter(sampleRate: number, hertz: number) {
  const levels: number[] = [];
  const window = new Float32Array((sampleRate * windowMs) / 1000);
  let filled = 0;
  return {
    levels,
    add(samples: Float32Array): void {
      for (const sample of samples) {
        window[filled++] = sample;
        if (filled < window.length) continue;
        levels.push(amplitude(window, hertz / sampleRate));
        filled = 0;
      }
    },
  };
}

/** Goertzel's filter. @param frequency cycles per sample. */
function amplitude(samples: Float32Array, frequency: number): number {
  const factor = 2 * Math.cos(2 * Math.PI * frequency);
  let [before, now] = [0, 0];
  for (const sample of samples) [before, now] = [now, sample + factor * now - before];
  const power = now * now + before * before - factor * now * before;
  return (2 * Math.sqrt(Math.max(0, power))) / samples.length;
}
