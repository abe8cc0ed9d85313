import { isDeepStrictEqual } from "node:util";
import { syncGrants } from "../../server/people/access/grants.ts";
import type { Database } from "../../server/platform/db/database.ts";

/** The rule of server/people/access/grants.ts for all recordings at once; `checkGrants` holds it to the original. */
export const insertGrants = `
  insert into recording_grants (principal_id, start_datetime, recording_id)
  select p.principal_id, r.start_datetime, r.id
  from recordings r
  join (
    select id as recording_id, workspace_id as principal_id from recordings
    union
    select s.id, w.members_id from recordings s join workspaces w on w.id = s.workspace_id
      where s.share_state in ('workspace', 'public')
    union
    select recording_id, user_id from recording_recorders
    union
    select recording_id, user_id from recording_user_shares
    union
    select recording_id, team_id from recording_teams
    union
    select a.recording_id, u.id from participants a
      join users u on u.workspace_id = a.workspace_id and u.email_key = a.email_key
  ) p on p.recording_id = r.id
  order by r.start_datetime`;

/**
 * Lets the server's own statement go over a sample.
 * @throws Error when it would change anything: then the bulk statement above no longer follows the rule.
 */
export async function checkGrants(db: Database): Promise<void> {
  const sample = await db.pool.query<{ id: string }>(
    "select id from recordings order by md5(id::text) limit 300",
  );
  const ids = sample.rows.map((row) => row.id);
  const before = await readGrants(db, ids);
  await db.kysely.transaction().execute((tx) => syncGrants(tx, ids));
  if (!isDeepStrictEqual(before, await readGrants(db, ids)))
    throw new Error("bench/data/grants.ts no longer follows the rule of server/people/access/grants.ts");
}

async function readGrants(db: Database, ids: readonly string[]): Promise<unknown[]> {
  const { rows } = await db.pool.query(
    "select *, xmin::text from recording_grants where recording_id = any($1) order by recording_id, principal_id",
    [ids],
  );
  return rows;
}
