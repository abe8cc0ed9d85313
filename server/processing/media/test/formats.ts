import type { TestFile } from "./encode.ts";

const opus = { codec: "libopus" };
/** A file of each format that is converted, by its name. */
export const testFormats: Readonly<Record<string, TestFile>> = {
  "recorded by a browser.webm": {
    format: "webm",
    video: { codec: "libvpx-vp9" },
    audio: [opus],
    options: { live: 1 },
  },
  "vp8.webm": { format: "webm", video: { codec: "libvpx" }, audio: [{ codec: "libvorbis" }] },
  "sound only.webm": { format: "webm", audio: [opus], options: { live: 1 } },
  "h264.mkv": { format: "matroska", video: { codec: "libx264" }, audio: [{ codec: "aac" }] },
  "mpeg4.avi": { format: "avi", video: { codec: "mpeg4" }, audio: [{ codec: "libmp3lame" }] },
  "pcm.wav": { format: "wav", audio: [{ codec: "pcm_s16le", sampleRate: 16_000 }] },
  "sound.flac": { format: "flac", audio: [{ codec: "flac", channels: 2 }] },
  "sound.opus": { format: "opus", audio: [opus] },
  "vorbis.ogg": { format: "ogg", audio: [{ codec: "libvorbis" }] },
  "sound.aac": { format: "adts", audio: [{ codec: "aac" }] },
  "camera.mts": { format: "mpegts", video: { codec: "libx264" }, audio: [{ codec: "ac3" }] },
  "camera.m2ts": {
    format: "mpegts",
    video: { codec: "mpeg2video", fps: 25 },
    audio: [{ codec: "aac" }],
    options: { mpegts_m2ts_mode: 1 },
  },
  "disc.mpg": { format: "mpeg", video: { codec: "mpeg2video", fps: 25 }, audio: [{ codec: "mp2" }] },
  "stream.flv": {
    format: "flv",
    video: { codec: "flv" },
    audio: [{ codec: "libmp3lame", sampleRate: 44_100 }],
  },
  "memo.caf": { format: "caf", audio: [{ codec: "pcm_s16le" }] },
  "sound.aiff": { format: "aiff", audio: [{ codec: "pcm_s16be" }] },
  "sound.w64": { format: "w64", audio: [{ codec: "pcm_s16le" }] },
  "book.m4b": { format: "ipod", audio: [{ codec: "aac" }] },
  "sound.mka": { format: "matroska", audio: [opus] },
  "phone.3g2": {
    format: "3g2",
    video: { codec: "h263", width: 176, height: 144 },
    audio: [{ codec: "aac", sampleRate: 16_000 }],
  },
  "telephone G.722.wav": { format: "wav", audio: [{ codec: "g722", sampleRate: 16_000 }] },
  "telephone G.726.wav": { format: "wav", audio: [{ codec: "g726", sampleRate: 8000, bitRate: 32_000 }] },
  "sound.wma": { format: "asf", audio: [{ codec: "wmav2", sampleRate: 44_100 }] },
  "meeting.wmv": { format: "asf", video: { codec: "wmv2" }, audio: [{ codec: "wmav2", sampleRate: 44_100 }] },
  "phone.3gp": {
    format: "3gp",
    video: { codec: "h263", width: 176, height: 144 },
    audio: [{ codec: "aac", sampleRate: 16_000 }],
  },
  "tall.mp4": {
    format: "mp4",
    video: { codec: "libx264", width: 320, height: 1080 },
    audio: [{ codec: "libopus" }],
  },
};
