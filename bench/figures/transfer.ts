import { execFile } from "node:child_process";
import { randomFillSync } from "node:crypto";
import { mkdirSync } from "node:fs";
import { copyFile, link, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { recordingObjectKey } from "../../server/platform/storage/layout.ts";
import { type Client, createUpload, getFile, publicRequest, putFile } from "../api.ts";
import type { Bench } from "../bench.ts";
import { makeUser } from "../data/people.ts";
import { insertMeeting } from "../data/spoken.ts";
import { median, takeTurns } from "../load.ts";
import { type Nginx, startNginx } from "../nginx.ts";
import { type Figure, figure, ratioFigure, skippedFigure } from "../report.ts";
import type { RunningServer } from "../servers.ts";

/** A file sent to an upload's URL, and a recording's file by the link of its download, against nginx doing the same. */
export async function measureTransfer({ postgres, start, sizes }: Bench): Promise<Figure[]> {
  const { transferBytes: bytes, rounds } = sizes;
  const data = await postgres.database("parley_transfer", "1", async (db) => {
    const user = await makeUser(db, "Northwind", "northwind.example");
    const recordingId = await insertMeeting(db, user.workspaceId, {
      title: "Film",
      start: new Date("2026-02-01T09:00:00Z"),
      hours: 1,
      speakers: ["Ada"],
      attendees: ["admin@northwind.example"],
      segments: [],
    });
    return { ...user, recordingId };
  });
  // Without background work, nothing happens to a file that has arrived.
  const server = await start(data, { PARLEY_ROLE: "api" });
  const { recordingId, token } = data.made;
  const client: Client = { server, token };
  const objects = join(postgres.folder, data.connection.database, "objects");
  const folder = join(postgres.folder, "transfer");
  mkdirSync(folder, { recursive: true });
  const nginx = await startNginx(folder);
  try {
    const large = join(folder, "large");
    await writeRandomFile(large, bytes);
    const upload = async (path: string): Promise<number> => {
      const { media } = await createUpload(client, "video");
      await settleDisk();
      const seconds = await putFile(path, media.upload);
      await rm(join(objects, "uploads"), { recursive: true, force: true });
      return seconds;
    };
    const uploadToNginx = async ({ url, root }: Nginx): Promise<number> => {
      await settleDisk();
      const seconds = await putFile(large, { url: `${url}/uploads/large` });
      await rm(join(root, "uploads"), { recursive: true, force: true });
      return seconds;
    };
    // What the first upload of all loads is no growth by the size of a file.
    const tiny = join(folder, "tiny");
    await writeRandomFile(tiny, 2 ** 16);
    await upload(tiny);
    const put = await compare(server, `PUT of ${sizeText(bytes)}`, 0.8, uploadToNginx, () => upload(large));

    // A server does not start on a database with files that its store has never had.
    await data.db.pool.query("update recordings set media_type = 'video' where id = $1", [recordingId]);
    await data.db.pool.query(
      `insert into recording_media (recording_id, format, has_storyboard) values ($1, 'mp4', false)
       on conflict do nothing`,
      [recordingId],
    );
    const served = join(objects, recordingObjectKey(recordingId, "media.mp4"));
    mkdirSync(dirname(served), { recursive: true });
    await linkFile(large, served);
    // The very same file, so that both have it in memory or neither.
    if (typeof nginx !== "string") await linkFile(large, join(nginx.root, "large"));
    const url = await downloadLink(client, recordingId);
    await getFile(url);
    const download = await compare(
      server,
      `download of ${sizeText(bytes)}`,
      0.7,
      (baseline) => getFile(`${baseline.url}/large`),
      () => getFile(url),
    );
    return [...put, ...download];
  } finally {
    if (typeof nginx !== "string") await nginx.stop();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
    // A later run on the kept database starts again.
    await data.db.pool.query("delete from recording_media where recording_id = $1", [recordingId]);
    await rm(dirname(objects), { recursive: true, force: true });
  }

  /** Megabytes per second of both in turns, of the server alone where there is no nginx, and how much memory it takes. */
  async function compare(
    { watchMemory }: RunningServer,
    name: string,
    min: number,
    baseline: (nginx: Nginx) => Promise<number>,
    subject: () => Promise<number>,
  ): Promise<Figure[]> {
    const rate = async (seconds: Promise<number>): Promise<number> => bytes / 2 ** 20 / (await seconds);
    const growth = watchMemory();
    const figures: Figure[] = [];
    if (typeof nginx === "string") {
      const rates: number[] = [];
      for (let round = 0; round < rounds; round += 1) rates.push(await rate(subject()));
      const alone = `${median(rates).toFixed(0)} MiB/s without a baseline`;
      figures.push(skippedFigure(`${name}: throughput to nginx`, `${nginx}; ${alone}`));
    } else {
      const compared = await takeTurns(
        rounds,
        () => rate(baseline(nginx)),
        () => rate(subject()),
      );
      figures.push(ratioFigure(`${name}: throughput to nginx`, " MiB/s", compared, { min }));
    }
    const mb = growth();
    const measured = mb === null ? "not on this system" : `${mb.toFixed(0)} MB more at its peak`;
    return [...figures, figure(`${name}: memory`, mb, measured, " MB", { max: 50 })];
  }
}

/** The signed link that Download Recording leads to. */
async function downloadLink(client: Client, recordingId: string): Promise<string> {
  const { url, headers } = publicRequest(client, "GET", `/recordings/${recordingId}/download`);
  const response = await fetch(url, { headers, redirect: "manual" });
  const link = response.headers.get("location");
  if (response.status !== 302 || link === null)
    throw new Error(`${url} returned ${response.status}: ${await response.text()}`);
  return link;
}

const linkFile = (from: string, to: string): Promise<void> => link(from, to).catch(() => copyFile(from, to));

/** Writes a file that nothing can make smaller. */
async function writeRandomFile(path: string, bytes: number): Promise<void> {
  const file = await open(path, "wx");
  try {
    const block = Buffer.alloc(8 * 2 ** 20);
    for (let left = bytes; left > 0; left -= block.length)
      await file.write(randomFillSync(block), 0, Math.min(block.length, left));
  } finally {
    await file.close();
  }
}

/** Lets the disk take what was written, so that nobody is measured while it takes what another has left behind. */
export async function settleDisk(): Promise<void> {
  // Where there is no such program the figures are noisier, and no less right.
  await promisify(execFile)("sync", []).catch(() => {});
}

const sizeText = (bytes: number): string =>
  bytes < 2 ** 30 ? `${bytes / 2 ** 20} MiB` : `${bytes / 2 ** 30} GiB`;
