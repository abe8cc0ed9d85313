import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { demoMeetings } from "../../demo/content/meetings/index.ts";
import { buildWebApp } from "../../server/operations/web/build.ts";
import { createSession } from "../../server/people/accounts/sign-in/sessions.ts";
import { launchChromium } from "../../test/support/chromium.ts";
import { makePersonalToken, makeWorkspace } from "../data/people.ts";
import type { BenchPostgres } from "../database.ts";
import { median, takeTurns } from "../load.ts";
import { type PageToVisit, type PageVisit, visitPage } from "../page-visit.ts";
import { type Figure, figure, ratioFigure } from "../report.ts";
import { freePort, type RunningServer, startParley } from "../servers.ts";
import type { Sizes } from "../sizes.ts";
import { measureLongRecording } from "./web-long-recording.ts";
import { listRecordings, sendVideo, untilRecordings } from "./web-recordings.ts";

/** A telephone at the edge of its network. */
const slowLine = { bitsPerSec: 1_600_000, latencyMs: 150 };

const video = new URL("../../test/fixtures/media/good-faststart.mp4", import.meta.url);

interface NamedPage extends PageToVisit {
  readonly name: string;
}

/**
 * The web app's pages at a first visit in a real browser: largest paint, what is sent for it, and from where. Each visit
 * has a new profile; the library holds the sample meetings as videos, with thumbnails.
 */
export async function measureWeb(postgres: BenchPostgres, sizes: Sizes): Promise<Figure[]> {
  const { rounds, libraryRecordings } = sizes;
  await buildWebApp((line) => console.error(`  ${line}`));
  const port = await freePort();
  const data = await postgres.database("parley_web", "2", async (db) => {
    const { adminEmail, adminId } = await makeWorkspace(db, "Northwind", "northwind.example");
    const long = await makeWorkspace(db, "Southwind", "southwind.example");
    return {
      adminId,
      token: await makePersonalToken(db, adminEmail),
      long: { adminId: long.adminId, token: await makePersonalToken(db, long.adminEmail) },
    };
  });
  const signIn = async (userId: string): Promise<string> => {
    const session = { userId, method: "password", ip: "127.0.0.1", userAgent: "bench" } as const;
    return (await data.db.kysely.transaction().execute((tx) => createSession(tx, session))).cookie;
  };
  const cookie = await signIn(data.made.adminId);
  const server = await startParley({
    PARLEY_DATABASE_URL: data.url,
    PARLEY_DATA_DIR: join(postgres.folder, "web"),
    PARLEY_PORT: String(port),
    PARLEY_BASE_URL: `http://127.0.0.1:${port}`,
  });
  const browser = await launchChromium();
  try {
    const recordingId = await fillLibrary(server, data.made.token, demoMeetings.slice(0, libraryRecordings));
    const pages: readonly NamedPage[] = [
      { name: "sign-in", url: `${server.url}/sign-in`, cookie: null, whole: "form" },
      { name: "library", url: `${server.url}/`, cookie, whole: "[aria-label=Recordings] img" },
      {
        name: "recording",
        url: `${server.url}/recordings/${recordingId}`,
        cookie,
        whole: "ol[aria-label=Transcript] li",
      },
      { name: "search", url: `${server.url}/search?q=buoy`, cookie, whole: "main mark" },
    ];
    const figures: Figure[] = [];
    for (const page of pages) figures.push(...(await measurePage(browser, page, rounds)));
    const library = pages.find(({ name }) => name === "library");
    if (library !== undefined) figures.push(...(await measureAgainstBare(browser, library, rounds)));
    const { adminId, token } = data.made.long;
    const longRecording = { server, token, folder: postgres.folder };
    figures.push(
      ...(await measureLongRecording(browser, longRecording, { ...sizes, cookie: await signIn(adminId) })),
    );
    return figures;
  } finally {
    await browser.close();
    await server.stop();
  }
}

async function measurePage(browser: Browser, page: NamedPage, rounds: number): Promise<Figure[]> {
  // The first visit also warms the server: it is not counted.
  const first = await visitPage(browser, page);
  const visits: PageVisit[] = [];
  for (let round = 0; round < rounds; round += 1) visits.push(await visitPage(browser, page));
  const slow = await visitPage(browser, { ...page, line: slowLine });
  const paints = visits.map(({ largestPaintMs }) => largestPaintMs);
  const kb = (bytes: number): string => (bytes / 1000).toFixed(0);
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

/** Largest paint against that of a page without any code that waits for the same bytes of script and style. */
async function measureAgainstBare(
  browser: Browser,
  page: NamedPage,
  rounds: number,
): Promise<readonly Figure[]> {
  const { scriptBytes, styleBytes } = await visitPage(browser, page);
  const server = createServer((request, response) => {
    const send = (type: string, body: string): void => {
      response.writeHead(200, { "content-type": `${type}; charset=utf-8` });
      response.end(body);
    };
    if (request.url === "/script.js")
      return send(
        "text/javascript",
        `/*${"x".repeat(scriptBytes)}*/document.body.innerHTML = "<h1>Library</h1>";`,
      );
    if (request.url === "/style.css") return send("text/css", `/*${"x".repeat(styleBytes)}*/`);
    send(
      "text/html",
      '<!doctype html><title>Bare</title><link rel="stylesheet" href="/style.css"><script type="module" src="/script.js"></script><body></body>',
    );
  }).listen(0, "127.0.0.1");
  try {
    await new Promise((resolve) => server.once("listening", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const paint = async (one: PageToVisit): Promise<number> => (await visitPage(browser, one)).largestPaintMs;
    const bare: PageToVisit = { url, cookie: null, whole: "h1" };
    const compared = await takeTurns(
      rounds,
      () => paint(bare),
      () => paint(page),
    );
    const name = `${page.name}: largest paint to that of a bare page of the same bytes`;
    return [ratioFigure(name, " ms", compared, {})];
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** Makes sample meetings into recordings with a video, unless they are there. @returns the id of one. */
async function fillLibrary(
  server: RunningServer,
  token: string,
  meetings: typeof demoMeetings,
): Promise<string> {
  const client = { server, token };
  if ((await listRecordings(client)).length < meetings.length)
    for (const { title, tags, language, participants, segments } of meetings) {
      const said = segments.flatMap(({ key, start, end, text }) =>
        // As much as fits into the twelve seconds of the film, told faster.
        end > 720_000
          ? []
          : [{ speaker_key: key, start: Math.round(start / 60), end: Math.round(end / 60), text }],
      );
      await sendVideo(client, video, {
        title,
        tags,
        participants: participants.map(({ key, name, email }) => ({ speaker_key: key, name, email })),
        transcript: { language, segments: said },
      });
    }
  return untilRecordings(client, meetings.length);
}
