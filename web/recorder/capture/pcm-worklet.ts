/** The audio thread's globals; TypeScript's DOM library lacks them. */
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;

/** Frames per message: 50 ms at 48 kHz. */
const framesPerBlock = 2400;

/** Passes the two channels to the encoder in blocks, the left one first in each block. */
class PcmTap extends AudioWorkletProcessor {
  #target: MessagePort | null = null;
  #block = new Float32Array(2 * framesPerBlock);
  #filled = 0;

  constructor() {
    super();
    this.port.onmessage = ({ data }: MessageEvent<MessagePort>) => {
      this.#target = data;
    };
  }

  process([input]: readonly (readonly Float32Array[])[]): boolean {
    const [left, right] = input ?? [];
    // 128 frames in every browser today; a source without sound has no channels.
    const frames = left?.length ?? 128;
    for (let index = 0; index < frames; index++) {
      this.#block[this.#filled] = left?.[index] ?? 0;
      this.#block[framesPerBlock + this.#filled] = right?.[index] ?? 0;
      if (++this.#filled === framesPerBlock) this.#send();
    }
    return true;
  }

  #send(): void {
    this.#target?.postMessage(this.#block, [this.#block.buffer]);
    this.#block = new Float32Array(2 * framesPerBlock);
    this.#filled = 0;
  }
}

registerProcessor("pcm-tap", PcmTap);
