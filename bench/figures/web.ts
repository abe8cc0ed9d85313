import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { demoMeetings } from "../../demo/content/meetings/index.ts";
import { createSession } from "../../server/people/accounts/sign-in/sessions.ts";
import { launchChromium } from "../../test/support/chromium.ts";
import { ask, type Client, createUpload, publicRequest, putFile, untilRecording } from "../api.ts";
import type { Bench } from "../bench.ts";
import type { MadeUser } from "../data/people.ts";
import { median } from "../load.ts";
import { type PageToVisit, type PageVisit, visitPage } from "../page-visit.ts";
import { type Figure, figure } from "../report.ts";
import type { Sizes } from "../sizes.ts";
import { measureLongRecording } from "./web-long-recording.ts";

/** A telephone at the edge of its network. */
const slowLine = { bitsPerSec: 1_600_000, latencyMs: 150 };

const video = fileURLToPath(new URL("../../test/fixtures/media/good-faststart.mp4", import.meta.url));

interface NamedPage extends PageToVisit {
  readonly name: string;
}

/**
 * The web app's pages at a first visit in a real browser: largest paint, what is sent for it, and from where. Each visit
 * has a new profile; the library holds the sample meetings as videos, with thumbnails.
 */
export async function measureWeb(bench: Bench): Promise<Figure[]> {
  const { web } = bench.sizes;
  const { server, data } = await bench.main();
  const signIn = async ({ userId }: MadeUser): Promise<string> => {
    const session = { userId, method: "password", ip: "127.0.0.1", userAgent: "bench" } as const;
    return (await data.db.kysely.transaction().execute((tx) => createSession(tx, session))).cookie;
  };
  const { library, long } = data.made.users;
  const cookie = await signIn(library);
  const recordingId = await fillLibrary(
    { server, token: library.token },
    demoMeetings.slice(0, web.recordings),
  );
  const pages: readonly NamedPage[] = [
    { name: "library", url: `${server.url}/`, cookie, whole: "[aria-label=Recordings] img" },
    {
      name: "recording",
      url: `${server.url}/recordings/${recordingId}`,
      cookie,
      whole: "ol[aria-label=Transcript] li",
    },
    { name: "search", url: `${server.url}/search?q=buoy`, cookie, whole: "main mark" },
    { name: "sign-in", url: `${server.url}/sign-in`, cookie: null, whole: "form" },
  ];
  const browser = await launchChromium({ isOptimizing: true });
  try {
    const figures: Figure[] = [];
    for (const page of pages.slice(0, web.pages))
      figures.push(...(await measurePage(browser, page, bench.sizes)));
    const client = { server, token: long.token };
    figures.push(...(await measureLongRecording(browser, bench, client, await signIn(long))));
    return figures;
  } finally {
    await browser.close();
  }
}

async function measurePage(browser: Browser, page: NamedPage, { rounds, warmUps }: Sizes): Promise<Figure[]> {
  for (let visit = 0; visit < warmUps.visits; visit += 1) await visitPage(browser, page);
  const visits: PageVisit[] = [];
  for (let round = 0; round < rounds; round += 1) visits.push(await visitPage(browser, page));
  const slow = await visitPage(browser, { ...page, line: slowLine });
  const paints = visits.map(({ largestPaintMs }) => largestPaintMs);
  const kb = (bytes: number): string => (bytes / 1000).toFixed(0);
  const first = visits[0] as PageVisit;
  const script = Math.max(...visits.map(({ scriptBytes }) => scriptBytes)) / 1000;
  const shift = Math.max(...[...visits, slow].map(({ layoutShift }) => layoutShift));
  const strangers = new Set(visits.flatMap(({ origins }) => [...origins]));
  strangers.delete(new URL(page.url).origin);
  return [
    figure(
      `${page.name}: largest paint`,
      median(paints),
      `${median(paints).toFixed(0)} ms (${Math.min(...paints).toFixed(0)} to ${Math.max(...paints).toFixed(0)})`,
      " ms",
      { max: 1500 },
    ),
    figure(
      `${page.name}: largest paint at 1.6 Mbit/s, 150 ms`,
      slow.largestPaintMs,
      `${slow.largestPaintMs.toFixed(0)} ms`,
      " ms",
      {},
    ),
    figure(`${page.name}: layout shift`, shift, shift.toFixed(3), "", { max: 0.1 }),
    figure(
      `${page.name}: script as sent`,
      script,
      `${script.toFixed(0)} kB; styles ${kb(first.styleBytes)} kB, all ${kb(first.allBytes)} kB in ${first.requests} requests`,
      " kB",
      { max: 250 },
    ),
    figure(
      `${page.name}: other hosts`,
      strangers.size,
      strangers.size === 0 ? "none" : [...strangers].join(", "),
      "",
      { max: 0 },
    ),
  ];
}

/** Makes sample meetings into recordings with a video, unless they are there. @returns the id of one. */
async function fillLibrary(client: Client, meetings: typeof demoMeetings): Promise<string> {
  const { recordings } = await ask<{ recordings: { id: string }[] }>(
    publicRequest(client, "POST", "/recordings", {}),
  );
  let [id] = recordings.map((recording) => recording.id);
  if (recordings.length < meetings.length)
    for (const { title, tags, language, participants, segments } of meetings) {
      const said = segments.flatMap(({ key, start, end, text }) =>
        // As much as fits into the twelve seconds of the film, told faster.
        end > 720_000
          ? []
          : [{ speaker_key: key, start: Math.round(start / 60), end: Math.round(end / 60), text }],
      );
      const upload = await createUpload(client, "video", {
        title,
        tags,
        participants: participants.map(({ key, name, email }) => ({ speaker_key: key, name, email })),
        transcript: { language, segments: said },
      });
      await putFile(video, upload.media.upload);
      id = await untilRecording(client, upload.id);
    }
  if (id === undefined) throw new Error("the library is empty");
  return id;
}
