import pg from "pg";
import type { Connection } from "../../server/platform/db/embedded/index.ts";
import * as batch from "./batch.ts";
import { insertGrants } from "./grants.ts";
import { createIndexes, dropIndexes } from "./indexes.ts";
import { insertPeople } from "./people.ts";
import { companies, firstNames, kinds, lastNames, rareWord, topics } from "./words.ts";

const batchSize = 50_000;

/** A workspace to fill. */
export interface WorkspacePlan {
  readonly id: string;
  readonly domain: string;
  readonly recordings: number;
  readonly users: number;
  readonly teams: number;
  /** How many of a hundred recordings are shared with the whole workspace. */
  readonly sharedPercent: number;
  /** How many recordings, all shared with the workspace, have the rare word in their title. */
  readonly rare: number;
  /** A user who takes part in exactly a hundred of the recordings, spread over all the time. */
  readonly guestEmail: string | null;
}

/** Fills an empty migrated database, in sets and without indexes, and leaves it vacuumed and analyzed. */
export async function generate(
  connection: Connection,
  plans: readonly WorkspacePlan[],
  progress: (text: string) => void,
): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    // Foreign keys hold by construction; checking them for each of millions of rows would take minutes.
    await client.query("set session_replication_role = replica; set synchronous_commit = off; set jit = off");
    // But keys are written by triggers.
    for (const table of ["users", "participants"])
      await client.query(`alter table ${table} enable always trigger email_key`);
    await client.query("set work_mem = '256MB'; set maintenance_work_mem = '1GB'");
    await client.query("alter system set max_wal_size = '8GB'");
    await client.query("select pg_reload_conf()");
    await client.query(batch.helpers);
    const dropped = await dropIndexes(client);
    for (const plan of plans) await fill(client, plan, progress);
    await client.query("analyze");
    progress("who may see what");
    await client.query(insertGrants);
    await createIndexes(client, dropped, progress);
    progress("vacuum analyze");
    await client.query("vacuum analyze");
    for (const table of ["users", "participants"])
      await client.query(`alter table ${table} enable trigger email_key`);
    await client.query("alter system reset max_wal_size");
    await client.query("select pg_reload_conf()");
    await client.query("checkpoint");
  } finally {
    await client.end();
  }
}

async function fill(client: pg.Client, plan: WorkspacePlan, progress: (text: string) => void): Promise<void> {
  await insertPeople(client, plan.id, plan.domain, plan);
  const rare = Array.from({ length: plan.rare }, (_, k) =>
    Math.floor((plan.recordings * (k + 1)) / (plan.rare + 1)),
  );
  for (let first = 1; first <= plan.recordings; first += batchSize) {
    const last = Math.min(first + batchSize - 1, plan.recordings);
    await client.query("begin");
    await client.query("truncate batch");
    await client.query(batch.fillBatch, [
      first,
      last,
      plan.recordings,
      plan.sharedPercent,
      rare,
      rareWord,
      topics,
      kinds,
      companies,
    ]);
    await client.query("analyze batch");
    await client.query(batch.insertRecordings, [plan.id]);
    await client.query(batch.insertParticipants, [plan.id, firstNames, lastNames, plan.users]);
    await client.query(batch.insertRecorders, [plan.users]);
    await client.query(batch.insertUserShares, [plan.users]);
    await client.query(batch.insertTeams, [plan.teams]);
    await client.query(batch.insertHighlights);
    if (plan.guestEmail !== null) await addGuest(client, plan.guestEmail, Math.floor(plan.recordings / 100));
    await client.query("commit");
    progress(`${last.toLocaleString("en")} of ${plan.recordings.toLocaleString("en")} recordings`);
  }
}

/** Adds a user to every nth recording. */
async function addGuest(client: pg.Client, email: string, every: number): Promise<void> {
  await client.query(
    `insert into participants
       (id, recording_id, workspace_id, position, name, email, scope, confirmed_attendee, attended)
     select uuidv7(), b.id, u.workspace_id, b.people, u.name, u.email, 'internal', true, true
     from batch b join users u on u.email_key = lower($1) where b.n % $2 = 0`,
    [email, every],
  );
}
