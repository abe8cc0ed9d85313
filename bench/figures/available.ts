import { mkdirSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { recordingObjectKey } from "../../server/platform/storage/layout.ts";
import { type Client, createUpload, putFile, untilRecording } from "../api.ts";
import type { Bench } from "../bench.ts";
import { median } from "../load.ts";
import { encodeClip, repeatClip } from "../media.ts";
import { type Figure, figure } from "../report.ts";

const fixture = fileURLToPath(new URL("../../test/fixtures/media/good-index-at-end.mp4", import.meta.url));

/**
 * How long it takes from a file's last byte until its recording is there, without a speech model. A short file shows
 * what it costs at all, files of an hour what their length adds: an mp4 with its index at the end, and an mp3.
 */
export async function measureAvailable({ main, sizes, postgres }: Bench): Promise<Figure[]> {
  const { server, data, folder: objects } = await main();
  const { availableSec, rounds } = sizes;
  const folder = join(postgres.folder, "available");
  mkdirSync(folder, { recursive: true });
  const client: Client = { server, token: data.made.users.files.token };
  const length = availableSec < 60 ? `${availableSec} s` : `${(availableSec / 60).toFixed(0)} min`;
  const files = [
    { name: "12 s of mp4", mediaType: "video", seconds: 12, path: fixture },
    { name: `${length} of 720p mp4`, mediaType: "video", seconds: availableSec, path: makeFile("mp4") },
    { name: `${length} of mp3`, mediaType: "audio", seconds: availableSec, path: makeFile("mp3") },
  ] as const;
  try {
    const figures: Figure[] = [];
    for (const { name, mediaType, seconds, path } of files) {
      const took: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const { id, media } = await createUpload(client, mediaType);
        await putFile(path, media.upload);
        const arrivedAt = performance.now();
        const recordingId = await untilRecording(client, id);
        took.push((performance.now() - arrivedAt) / 1000);
        await rm(dirname(join(objects, "objects", recordingObjectKey(recordingId, "media"))), {
          recursive: true,
          force: true,
        });
      }
      const size = `${(statSync(path).size / 2 ** 20).toFixed(0)} MiB`;
      const spread = `${Math.min(...took).toFixed(2)} to ${Math.max(...took).toFixed(2)}`;
      const measured = `${median(took).toFixed(2)} s (${spread}); ${size}`;
      // The slowest counts: a hundredth of the length and two seconds.
      const max = 0.01 * seconds + 2;
      figures.push(figure(`last byte to recording, ${name}`, Math.max(...took), measured, " s", { max }));
    }
    return figures;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }

  /** Repeats a clip, since encoding hours would take longer than the bench. */
  function makeFile(kind: "mp4" | "mp3"): string {
    const seconds = Math.min(20, availableSec / 20);
    const clip = join(folder, `clip.${kind}`);
    const noise = (amplitude: number) =>
      [["anoisesrc", `duration=${seconds}:amplitude=${amplitude}`]] as const;
    encodeClip(
      clip,
      kind === "mp3"
        ? { audio: { source: noise(0.3), codec: "libmp3lame", bitsPerSec: 128_000 } }
        : {
            video: {
              source: [
                ["testsrc2", `size=1280x720:rate=25:duration=${seconds}`],
                ["noise", "alls=10:allf=t"],
              ],
              width: 1280,
              height: 720,
              framesPerSec: 25,
              keyframeEvery: 50,
              bitsPerSec: 1_200_000,
            },
            audio: { source: noise(0.1), codec: "aac", bitsPerSec: 64_000 },
          },
    );
    return repeatClip(clip, { seconds, times: availableSec / seconds, path: join(folder, `long.${kind}`) });
  }
}
