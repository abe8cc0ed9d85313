import { timeCursor } from "../../server/platform/http/page.ts";
import { rareWord } from "../data/words.ts";
import type { BenchDatabase } from "../database.ts";
import type { Dataset } from "../datasets.ts";
import type { Load, Target } from "../load.ts";
import { type Figure, type Goal, ratioFigure } from "../report.ts";
import type { RunningServer } from "../servers.ts";
import type { Sizes } from "../sizes.ts";
import { apiRequest, fetchBytes } from "./requests.ts";

const pageSize = 50;

/** A running server and the data it serves. */
export interface Served {
  readonly server: RunningServer;
  readonly data: BenchDatabase<Dataset>;
}

/** Whether a page costs the same however much there is, how deep it lies, and how little of it one sees. */
export async function measureLatency(
  load: Load,
  large: Served,
  small: Served,
  { rounds }: Sizes,
): Promise<Figure[]> {
  const { made } = large.data;
  const page = (served: Served, token: string, body: object = {}): Target =>
    apiRequest(served.server, token, "POST", "/recordings", body);
  const first = page(large, made.workspaceToken);
  const member = page(large, made.memberToken);
  const find = (token: string, title: string): Target =>
    page(large, token, { filter: { title_search: title } });
  const pageNumber = Math.min(1000, Math.floor(made.recordings / pageSize));
  const deep = page(large, made.workspaceToken, { cursor: await cursorOf(large.data, pageNumber) });
  const guest = page(large, made.guestToken);

  const rare = rareWord.toLowerCase();
  const count = made.recordings.toLocaleString("en");
  const cases: [name: string, baseline: Target, subject: Target, goal: Goal, min: number][] = [
    [
      `page at ${count} to page at ${small.data.made.recordings.toLocaleString("en")}`,
      page(small, small.data.made.workspaceToken),
      first,
      { max: 1.3 },
      50,
    ],
    [`page ${pageNumber} to page 1`, first, deep, { max: 1.2 }, 50],
    ["who sees 100 of all to workspace token", first, guest, { max: 2 }, 50],
    ["ordinary member to workspace token", first, member, {}, 50],
    ["rare title, workspace token, to its page", first, find(made.workspaceToken, rare), { max: 5 }, 5],
    ["rare title, member, to their page", member, find(made.memberToken, rare), { max: 5 }, 5],
  ];
  for (const [what, title, min] of [
    ["two letters found nowhere", "qx", 0],
    ["two letters that are common", "re", 50],
    ["one letter found nowhere", "ж", 0],
  ] as const)
    cases.push(
      [`${what}, workspace token, to its page`, first, find(made.workspaceToken, title), { max: 10 }, min],
      [`${what}, member, to their page`, member, find(made.memberToken, title), { max: 10 }, min],
    );
  // No target, but what the next slow query will be.
  cases.push(["common title, member, to their page", member, find(made.memberToken, "review"), {}, 1]);
  const figures: Figure[] = [];
  for (const [name, baseline, subject, goal, min] of cases) {
    await requireCount(subject, min);
    const compared = await load.compare("latency", baseline, subject, rounds);
    figures.push(ratioFigure(`latency: ${name}`, " ms", compared, goal));
  }
  return figures;
}

/** Where the page before this one ends. */
export async function cursorOf(
  data: BenchDatabase<Pick<Dataset, "workspaceId">>,
  pageNumber: number,
): Promise<string> {
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
  const { recordings } = JSON.parse((await fetchBytes(target)).bytes.toString());
  if (recordings.length < min)
    throw new Error(`${target.body} returned ${recordings.length} recordings instead of at least ${min}`);
}
