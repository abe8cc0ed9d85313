import {
  AppendOnlyStreamTarget,
  AudioSample,
  AudioSampleSource,
  getFirstEncodableAudioCodec,
  getFirstEncodableVideoCodec,
  Mp4OutputFormat,
  Output,
  Quality,
  VideoSample,
  VideoSampleSource,
} from "mediabunny";
import { wholeFragments } from "../outbox/fragments.ts";
import { createPicture, type Picture } from "./compose.ts";
import type { FromEncoder, StartMessage, ToEncoder } from "./messages.ts";
import { createPieceWriter } from "./piece-writer.ts";

/** Pictures per second. */
const frameRate = 15;
/** A picture that doesn't change is repeated after this long, so that every fragment has a keyframe. */
const repeatMs = 500;
/** Seconds; a fragment ends at a keyframe, and only whole fragments survive a killed browser. */
const keyFrameIntervalSec = 1;
const videoQuality = new Quality({ bitrate: 1_200_000 });
/** Both channels together. */
const audioQuality = new Quality({ bitrate: 128_000 });

/**
 * The thread that encodes a recording and stores it in pieces. Its clock is the recorded sound: pausing stops it, and
 * pictures are timed by it. Timers of threads are not slowed down when the tab is in the background.
 */
const post = (message: FromEncoder): void => self.postMessage(message);
let session: ReturnType<typeof start> | null = null;
let isPaused = false;

self.onmessage = ({ data }: MessageEvent<ToEncoder>): void => {
  handle(data).catch((error: unknown) => post(failed(error)));
};

async function handle(message: ToEncoder): Promise<void> {
  if (message.type === "start") {
    session = start(message);
    await session;
    // The user may stop before the encoder has started.
  } else if (message.type === "stop") await (await session)?.stop();
  else isPaused = message.type === "pause";
}

async function start({ folder, sampleRate, audio, picture }: StartMessage) {
  const audioCodec = await getFirstEncodableAudioCodec(["aac", "opus"], {
    numberOfChannels: 2,
    sampleRate,
    quality: audioQuality,
  });
  const videoCodec =
    picture === null
      ? null
      : await getFirstEncodableVideoCodec(["avc", "vp9", "vp8"], { ...picture, quality: videoQuality });
  if (audioCodec === null || (picture !== null && videoCodec === null))
    throw new Error("This browser can't encode recordings. Use a current version of Chrome or Edge.");
  let frames = 0;
  const clockMs = (): number => Math.round((frames * 1000) / sampleRate);
  const writer = createPieceWriter(folder, (piece) => post({ type: "piece", piece }));
  let pending = new Uint8Array();
  const output = new Output({
    format: new Mp4OutputFormat({ fastStart: "fragmented", minimumFragmentDuration: 0.9 }),
    target: new AppendOnlyStreamTarget(
      new WritableStream<Uint8Array>({
        async write(chunk) {
          pending = join(pending, chunk);
          const whole = wholeFragments(pending);
          if (whole === 0) return;
          const piece = pending.slice(0, whole);
          pending = pending.slice(whole);
          await writer.write(piece, clockMs());
        },
      }),
    ),
  });
  const sound = new AudioSampleSource({ codec: audioCodec, quality: audioQuality });
  output.addAudioTrack(sound);
  const pictures = picture === null ? null : createPicture(picture);
  const video =
    videoCodec === null
      ? null
      : new VideoSampleSource({
          codec: videoCodec,
          quality: videoQuality,
          keyFrameInterval: keyFrameIntervalSec,
          latencyMode: "realtime",
        });
  if (video !== null) output.addVideoTrack(video, { frameRate });
  await output.start();

  let isStopped = false;
  let adding: Promise<unknown> = Promise.resolve();
  const fail = (error: unknown): void => {
    if (!isStopped) post(failed(error));
    isStopped = true;
  };
  audio.onmessage = ({ data }: MessageEvent<Float32Array>): void => {
    if (isPaused || isStopped) return;
    const sample = new AudioSample({
      data,
      format: "f32-planar",
      numberOfChannels: 2,
      sampleRate,
      timestamp: frames / sampleRate,
    });
    frames += data.length / 2;
    adding = adding.then(() => sound.add(sample).finally(() => sample.close())).catch(fail);
    if (Math.floor(clockMs() / 250) !== Math.floor((clockMs() - 50) / 250))
      post({ type: "time", ms: clockMs() });
  };
  const stopPictures =
    video === null || pictures === null
      ? () => Promise.resolve()
      : encodePictures(video, pictures, clockMs, fail);

  return {
    async stop(): Promise<void> {
      if (isStopped) return;
      isStopped = true;
      await stopPictures();
      await adding;
      await output.finalize();
      if (pending.length > 0) await writer.write(pending, clockMs());
      post({ type: "time", ms: clockMs() });
      post({ type: "done" });
    },
  };
}

/** Encodes the picture whenever it has changed, at most `frameRate` times a second. @returns a function that ends it. */
function encodePictures(
  video: VideoSampleSource,
  picture: Picture,
  clockMs: () => number,
  fail: (error: unknown) => void,
): () => Promise<void> {
  let lastMs = -1;
  let adding: Promise<void> | null = null;
  const add = async (ms: number): Promise<void> => {
    const frame = await picture.take(lastMs < 0 || ms - lastMs >= repeatMs);
    if (frame === null) return;
    lastMs = ms;
    const sample = new VideoSample(frame, { timestamp: ms / 1000, duration: 1 / frameRate });
    try {
      await video.add(sample);
    } finally {
      sample.close();
    }
  };
  const timer = setInterval(() => {
    const ms = clockMs();
    // An encoder that can't keep up misses pictures rather than fall behind the sound.
    if (isPaused || adding !== null || ms <= lastMs) return;
    adding = add(ms)
      .catch(fail)
      .finally(() => {
        adding = null;
      });
  }, 1000 / frameRate);
  return async () => {
    clearInterval(timer);
    await adding;
    picture.close();
  };
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

function failed(error: unknown): FromEncoder {
  if (error instanceof DOMException && error.name === "QuotaExceededError")
    return { type: "failed", cause: "storage_full" };
  return { type: "failed", cause: "other", message: error instanceof Error ? error.message : String(error) };
}
