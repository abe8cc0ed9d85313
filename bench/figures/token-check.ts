import { generateToken, hashToken } from "../../server/people/accounts/tokens/access-tokens.ts";
import type { BenchDatabase } from "../database.ts";
import type { Dataset } from "../datasets.ts";
import type { Load } from "../load.ts";
import { type Figure, ratioFigure } from "../report.ts";
import { startTokenCheck } from "../servers.ts";
import type { Sizes } from "../sizes.ts";
import { apiRequest, fetchBytes } from "./requests.ts";

/** What checking an OAuth token adds to Get Recording: the same server with a check that costs nothing is the baseline. */
export async function measureTokenCheck(
  load: Load,
  data: BenchDatabase<Dataset>,
  baseUrl: string,
  { rounds }: Sizes,
): Promise<Figure[]> {
  const token = await makeOAuthToken(data);
  const [free, checked] = await Promise.all(
    [true, false].map((isFree) => startTokenCheck({ databaseUrl: data.url, baseUrl, isFree })),
  );
  if (free === undefined || checked === undefined) throw new Error("a server is missing");
  try {
    const path = `/recordings/${await recordingSeenBy(data, token)}`;
    const [baseline, subject] = [free, checked].map((server) =>
      apiRequest(server, token, "POST", path, {
        include: {
          ai_summary: true,
          ai_action_items: true,
          highlights: true,
          participants: true,
          calendar_event: true,
        },
      }),
    );
    if (baseline === undefined || subject === undefined) throw new Error("a request is missing");
    for (const target of [baseline, subject]) await fetchBytes(target);
    const latency = await load.compare("latency", baseline, subject, rounds);
    const throughput = await load.compare("throughput", baseline, subject, rounds);
    return [
      ratioFigure("token check: time of Get Recording to that without", " ms", latency, { max: 1.2 }),
      ratioFigure("token check: throughput to that without", "/s", throughput, { min: 0.83 }),
    ];
  } finally {
    free.stop();
    checked.stop();
  }
}

/** A token of an app for the member whose personal token the data set has. */
async function makeOAuthToken({ db, made }: BenchDatabase<Dataset>): Promise<string> {
  const token = generateToken("oauth");
  await db.pool.query(
    `with person as (
       select user_id, workspace_id from access_tokens where hash = $1),
     client as (
       insert into oauth_clients (id, workspace_id, name, is_public, is_legacy, redirect_uris)
       select uuidv7(), workspace_id, 'Bench', true, true, array['https://bench.example/'] from person returning id),
     granted as (
       insert into oauth_grants (id, client_id, user_id)
       select uuidv7(), client.id, person.user_id from client, person returning id),
     family as (
       insert into oauth_families (id, grant_id) select uuidv7(), id from granted returning id)
     insert into access_tokens (id, workspace_id, user_id, type, name, hash, oauth_family_id)
     select uuidv7(), workspace_id, user_id, 'oauth', 'Bench', $2, family.id from person, family`,
    [hashToken(made.memberToken), hashToken(token)],
  );
  return token;
}

async function recordingSeenBy({ db }: BenchDatabase<Dataset>, token: string): Promise<string> {
  const { rows } = await db.pool.query<{ id: string }>(
    `select g.recording_id as id from recording_grants g
     join access_tokens t on t.user_id = g.principal_id where t.hash = $1
     order by g.start_datetime desc limit 1`,
    [hashToken(token)],
  );
  const [row] = rows;
  if (row === undefined) throw new Error("the member sees no recording");
  return row.id;
}
