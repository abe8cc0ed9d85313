import { deepStrictEqual, equal } from "node:assert/strict";
import type { RecordingIncludeInput } from "../../contract/recordings/recordings.ts";
import { viewerOf } from "../../server/people/access/viewer.ts";
import type { Principal } from "../../server/platform/auth/principal.ts";
import { createSigner } from "../../server/platform/crypto/link-signer.ts";
import { thumbnailLinks } from "../../server/recordings/recordings/json/links.ts";
import { listParts } from "../../server/recordings/recordings/list/list-query.ts";
import type { BenchDatabase } from "../database.ts";
import type { Dataset } from "../datasets.ts";
import type { Load, Target } from "../load.ts";
import { type Figure, ratioFigure } from "../report.ts";
import { benchSecret, type RunningServer, startBareList } from "../servers.ts";
import type { Sizes } from "../sizes.ts";
import { apiRequest, fetchBytes } from "./requests.ts";

const pageSize = 50;

const lists: Readonly<Record<string, { name: string; include: RecordingIncludeInput }>> = {
  "/plain": { name: "list, no includes", include: {} },
  "/included": {
    name: "list, participants + highlights + calendar event",
    include: { participants: true, highlights: true, calendar_event: true },
  },
};

/** What the server costs over the bare minimum: a page of 50 for a workspace token, eight clients at once. */
export async function measureList(
  load: Load,
  server: RunningServer,
  data: BenchDatabase<Dataset>,
  baseUrl: string,
  { rounds, loadMs }: Sizes,
): Promise<Figure[]> {
  const bare = await startBareList({
    // The connection settings of server/platform/db/database.ts.
    pool: {
      ...data.connection,
      max: 16,
      options:
        "-c TimeZone=UTC -c jit=off -c statement_timeout=60000 -c idle_in_transaction_session_timeout=60000",
    },
    statements: Object.fromEntries(
      Object.entries(lists).map(([path, { include }]) => [path, bareStatement(data.made, include, baseUrl)]),
    ),
    pageSize,
  });
  try {
    const figures: Figure[] = [];
    for (const [path, { name, include }] of Object.entries(lists)) {
      const subject = apiRequest(server, data.made.workspaceToken, "POST", "/recordings", { include });
      const baseline: Target = { ...subject, url: `${bare.url}${path}` };
      await requireSamePage(baseline, subject);
      // Many short turns: the speed of a shared machine changes within seconds, and the figure is close to its target.
      const compared = await load.compare("throughput", baseline, subject, rounds * 8, loadMs / 2.5);
      figures.push(ratioFigure(`${name}: throughput to bare node:http + pg`, "/s", compared, { min: 0.8 }));
    }
    return figures;
  } finally {
    bare.stop();
  }
}

/** The parts of the server's statement for the workspace's first page, as rows whose JSON pg parses. */
function bareStatement(made: Dataset, include: RecordingIncludeInput, baseUrl: string) {
  const principal: Principal = {
    tokenId: made.adminId,
    tokenType: "workspace_access_token",
    scope: "workspace",
    workspaceId: made.workspaceId,
    userId: made.adminId,
    role: "admin",
    emailKey: "",
    name: "",
    expiresAt: null,
    sees: [made.workspaceId],
  };
  const values: unknown[] = [];
  const { found, json } = listParts(
    {
      principal,
      filter: {},
      include,
      after: null,
      limit: pageSize + 1,
      baseUrl,
      thumbnails: thumbnailLinks(createSigner(benchSecret), viewerOf(principal)),
      datetimeFilters: "contract",
      rareTitles: null,
    },
    (value) => `$${values.push(value)}`,
  );
  const text = `with page as (${found})
    select page.start_datetime as at, page.recording_id as id, ${json} as json
    from page join recordings r on r.id = page.recording_id
    order by page.start_datetime desc, page.recording_id desc`;
  return { name: `bare_list_${Object.keys(include).length}`, text, values };
}

/** Checks that the baseline returns the same response. */
async function requireSamePage(baseline: Target, subject: Target): Promise<void> {
  const pages = await Promise.all(
    [baseline, subject].map(async (target) => JSON.parse((await fetchBytes(target)).bytes.toString())),
  );
  try {
    // The server's cursor also carries the include, after a point.
    deepStrictEqual({ ...pages[1], cursor: String(pages[1].cursor).split(".")[0] }, pages[0]);
    equal(pages[0].recordings.length, pageSize);
  } catch (error) {
    throw new Error(`baseline and server return different pages: ${(error as Error).message}`);
  }
}
