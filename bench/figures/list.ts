import { timeCursor } from "../../server/platform/http/page.ts";
import { ask, publicRequest, type Target } from "../api.ts";
import type { Bench } from "../bench.ts";
import { type Dataset, dataset } from "../data/dataset.ts";
import { rareWord } from "../data/words.ts";
import type { BenchDatabase } from "../database.ts";
import { compareRequests } from "../load.ts";
import { type Figure, type Goal, ratioFigure } from "../report.ts";
import type { RunningServer } from "../servers.ts";

const pageSize = 50;

/** Whether a page costs the same however much there is, how deep it lies, and how little of it one sees. */
export async function measureList({ main, postgres, start, sizes }: Bench): Promise<Figure[]> {
  const small = await main();
  const isLarger = sizes.recordings > sizes.smallRecordings;
  const data = isLarger ? await dataset(postgres, "parley_large", sizes.recordings, sizes) : small.data;
  const large = isLarger ? await start(data, { PARLEY_ROLE: "api" }) : small.server;
  const page = (server: RunningServer, token: string, body: object = {}): Target =>
    publicRequest({ server, token }, "POST", "/recordings", body);
  const { recordings, workspaceToken, memberToken, guestToken } = data.made;
  const first = page(large, workspaceToken);
  const member = page(large, memberToken);
  const pageNumber = Math.min(1000, Math.floor(recordings / pageSize));
  const deep = page(large, workspaceToken, { cursor: await cursorOf(data, pageNumber) });
  const smallCount = small.data.made.recordings.toLocaleString("en");

  const cases: [name: string, baseline: Target, subject: Target, goal: Goal, min: number][] = [
    [
      `page at ${recordings.toLocaleString("en")} to page at ${smallCount}`,
      page(small.server, small.data.made.workspaceToken),
      first,
      { max: 1.3 },
      50,
    ],
    [`page ${pageNumber} to page 1`, first, deep, { max: 1.2 }, 50],
    ["who sees 100 of all to workspace token", first, page(large, guestToken), { max: 2 }, 50],
  ];
  for (const [what, title, max, min] of [
    ["rare title", rareWord.toLowerCase(), 5, 5],
    ["two letters found nowhere", "qx", 10, 0],
    ["two letters that are common", "re", 10, 50],
    ["one letter found nowhere", "ж", 10, 0],
  ] as const) {
    const find = (token: string): Target => page(large, token, { filter: { title_search: title } });
    cases.push(
      [`${what}, workspace token, to its page`, first, find(workspaceToken), { max }, min],
      [`${what}, member, to their page`, member, find(memberToken), { max }, min],
    );
  }
  const figures: Figure[] = [];
  for (const [name, baseline, subject, goal, min] of cases) {
    await requireCount(subject, min);
    const compared = await compareRequests(sizes, "latency", baseline, subject);
    figures.push(ratioFigure(`latency: ${name}`, " ms", compared, goal));
  }
  if (isLarger) await large.stop();
  return figures;
}

/** Where the page before this one ends. */
async function cursorOf(data: BenchDatabase<Dataset>, pageNumber: number): Promise<string> {
  const { rows } = await data.db.pool.query<{ at: Date; id: string }>(
    `select start_datetime as at, recording_id as id from recording_grants where principal_id = $1
     order by start_datetime desc, recording_id desc offset $2 limit 1`,
    [data.made.workspaceId, (pageNumber - 1) * pageSize - 1],
  );
  const [row] = rows;
  if (row === undefined) throw new Error(`there is no page ${pageNumber}`);
  return timeCursor("recordings").encode(row);
}

/** A page shorter than intended would be compared with a full one. */
async function requireCount(target: Target, min: number): Promise<void> {
  const { recordings } = await ask<{ recordings: unknown[] }>(target);
  if (recordings.length < min)
    throw new Error(`${target.body} returned ${recordings.length} recordings instead of at least ${min}`);
}
