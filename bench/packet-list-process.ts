import {
  closeInput,
  openInput,
  packetsOf,
  readOnly,
  secondsOf,
  silenceLibraries,
} from "../server/processing/media/render/libav.ts";

/** Lists the packets of a file's main track with their times, as ffprobe does, and says how long that took. */
silenceLibraries();
process.on("message", (path: string) => {
  const startedAt = performance.now();
  const input = openInput(path, path.endsWith(".mp4") ? "mp4" : "mp3");
  const track = input.video ?? input.audio;
  if (track === null) throw new Error(`${path} has no track`);
  readOnly(input, track);
  const times: (number | null)[] = [];
  for (const packet of packetsOf(input)) times.push(secondsOf(packet.pts, track));
  closeInput(input);
  process.send?.({ packets: times.length, seconds: (performance.now() - startedAt) / 1000 });
});
