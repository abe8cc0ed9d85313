import type pg from "pg";
import type { Database } from "../../server/platform/db/database.ts";
import type { Connection } from "../../server/platform/db/embedded/index.ts";
import { fillInBulk } from "./bulk.ts";
import { checkGrants } from "./grants.ts";
import { createIndexes, dropIndexes } from "./indexes.ts";
import { type MadeWorkspace, makePersonalToken, makeWorkspace } from "./people.ts";
import { makeSpeech } from "./speech.ts";
import { companies, firstNames, kinds, lastNames, topics } from "./words.ts";

/** What is generated: equal workspaces, whose recordings alternate in the tables as they would over time. */
export interface ManyWorkspacesPlan {
  readonly workspaces: number;
  readonly recordingsEach: number;
  /** Recordings of the first workspace, which is measured and has transcripts that were indexed as the server does. */
  readonly recordingsOfFirst: number;
}

/** What the figures need to know. */
export interface ManyWorkspaces {
  readonly recordings: number;
  /** The first workspace. */
  readonly workspaceId: string;
  readonly adminId: string;
  readonly workspaceToken: string;
  /** Of one of its 20 users. */
  readonly memberToken: string;
  readonly commonWords: readonly string[];
  readonly rareWords: readonly string[];
}

const batchSize = 100_000;
const usersEach = 20;
const teamsEach = 2;

const speech = makeSpeech(7);

const tables = `
  create temp table many_workspaces (n integer primary key, id uuid, members_id uuid);
  create temp table many_users (workspace integer, n integer, id uuid, name text, email text, primary key (workspace, n));
  create temp table many_teams (workspace integer, n integer, id uuid, primary key (workspace, n));
  create temp table titles (title text primary key, key text, head tsvector);
  create temp table words (n integer primary key, word text);
  create temp table many_recordings (n bigint, workspace integer, id uuid, starts timestamptz(3), duration_ms integer,
    share_state text, external boolean, title text, principals uuid[]);`;

/** Each different title once, since folding and indexing one takes longer than storing it. */
const fillTitles = `
  insert into titles
  select title, left(parley_fold(title), 600), parley_search_short(title, 'A', 'english')
  from (
    select t || ' ' || k || c as title from unnest($1::text[]) t, unnest($2::text[]) k,
      (select '' union all select ' with ' || c from unnest($3::text[]) c) c (c)) s`;

/**
 * Recordings n1..n2: of all workspaces in turn, then more of the first. Each is seen by its recorder, a colleague, one in ten
 * by all members, one in five by a team. $1 n1, $2 n2, $3 workspaces, $4 recordings in turn, $5 topics, $6 kinds, $7 companies,
 * $8 users, $9 teams
 */
const fillRecordings = `
  insert into many_recordings
  select s.n, s.workspace, uuidv7(starts - clock_timestamp()), starts, 300000 + pg_temp.dice(s.n, 1, 5100000),
    case when is_shared then 'workspace' else 'restricted' end, external,
    pg_temp.pick($5, s.n, 5) || ' ' || pg_temp.pick($6, s.n, 6)
      || case when external then ' with ' || pg_temp.pick($7, s.n, 7) else '' end,
    array[w.id, recorder.id, colleague.id] || case when is_shared then array[w.members_id] else '{}' end
      || case when pg_temp.dice(s.n, 28, 100) < 20 then array[t.id] else '{}' end
  from (
    select n, case when n <= $4 then (n % $3)::integer else 0 end as workspace,
      pg_temp.dice(n, 2, 100) < 10 as is_shared, pg_temp.dice(n, 9, 2) = 0 as external,
      timestamptz '2021-01-01 08:00Z' + interval '5 years'
        * case when n <= $4 then n::float8 / $4 else pg_temp.dice(n, 33, 1000000) / 1e6 end as starts
    from generate_series($1::bigint, $2::bigint) n) s
  join many_workspaces w on w.n = s.workspace
  join many_users recorder on recorder.workspace = s.workspace and recorder.n = pg_temp.dice(s.n, 21, $8)
  join many_users colleague on colleague.workspace = s.workspace and colleague.n = (recorder.n + 1) % $8
  join many_teams t on t.workspace = s.workspace and t.n = pg_temp.dice(s.n, 27, $9)`;

const insertRecordings = `
  insert into recordings (id, workspace_id, title, start_datetime, end_datetime, duration_ms, media_type, source,
    share_state, external, tags, transcript_language, created_at, updated_at)
  select id, principals[1], title, starts, starts + interval '1 millisecond' * duration_ms, duration_ms, 'transcript', 'upload',
    share_state, external, (array['follow-up', 'priority'])[1:pg_temp.dice(n, 12, 3)], 'en', starts, starts
  from many_recordings`;

/** The recorder, the colleague and a guest. $1 first names, $2 last names */
const insertParticipants = `
  insert into participants
    (id, recording_id, workspace_id, position, name, email, scope, confirmed_attendee, attended)
  select uuidv7(), r.id, r.principals[1], p,
    coalesce(u.name, pg_temp.pick($1, r.n, 15) || ' ' || pg_temp.pick($2, r.n, 16)),
    coalesce(u.email, 'guest' || pg_temp.dice(r.n, 17, 20000) || '@client.example'),
    case when u.id is null then 'external' else 'internal' end, true, true
  from many_recordings r
  cross join generate_series(0, 2) p
  left join many_users u on p < 2 and u.workspace = r.workspace and u.id = r.principals[2 + p]`;

const insertRecorders = `
  insert into recording_recorders (recording_id, user_id, position)
  select id, principals[2], 0 from many_recordings`;

const insertTeams = `
  insert into recording_teams (recording_id, team_id, created_at)
  select r.id, t.id, r.starts from many_recordings r join many_teams t on t.workspace = r.workspace and t.id = any(r.principals)`;

const insertGrants = `
  insert into recording_grants (principal_id, start_datetime, recording_id, title_key, meeting_type_id, external)
  select p, r.starts, r.id, t.key, null, r.external
  from many_recordings r join titles t using (title), unnest(r.principals) p`;

/**
 * The search index of all workspaces but the first: the title, and ten words of which few are most, as in speech.
 * $1 how many words there are
 */
const insertSearch = `
  insert into search_recordings (recording_id, start_datetime, principals, language, head, words)
  select r.id, r.starts, r.principals, 'english', t.head,
    array_to_tsvector(tsvector_to_array(t.head) || array(
      select w.word from generate_series(0, 9) k
      join words w on w.n = floor(power($1, pg_temp.dice(r.n * 16 + k, 40, 1000000) / 1e6))::integer - 1))
  from many_recordings r join titles t using (title)
  where r.workspace > 0`;

/** Fills an empty migrated database, without indexes, and leaves it vacuumed and analyzed. */
export async function makeManyWorkspaces(
  db: Database,
  connection: Connection,
  plan: ManyWorkspacesPlan,
  say: (text: string) => void,
): Promise<ManyWorkspaces> {
  const made: MadeWorkspace[] = [];
  for (let n = 0; n < plan.workspaces; n += 1)
    made.push(await makeWorkspace(db, `Workspace ${n}`, domainOf(n)));
  const [first] = made as [MadeWorkspace];
  const inTurn = plan.workspaces * plan.recordingsEach;
  const count = inTurn + plan.recordingsOfFirst - plan.recordingsEach;
  await fillInBulk(connection, say, async (client) => {
    await client.query(tables);
    await client.query(fillTitles, [topics, kinds, companies]);
    await client.query(
      "insert into words select n - 1, word from unnest($1::text[]) with ordinality w (word, n)",
      [speech.words],
    );
    await insertUsers(client, made);
    await client.query("analyze");
    const dropped = await dropIndexes(client, ["search_recordings"]);
    for (let from = 1; from <= count; from += batchSize) {
      const to = Math.min(from + batchSize - 1, count);
      await client.query("begin");
      await client.query("truncate many_recordings");
      await client.query(fillRecordings, [
        from,
        to,
        plan.workspaces,
        inTurn,
        topics,
        kinds,
        companies,
        usersEach,
        teamsEach,
      ]);
      await client.query("analyze many_recordings");
      await client.query(insertRecordings);
      await client.query(insertParticipants, [firstNames, lastNames]);
      for (const statement of [insertRecorders, insertTeams, insertGrants]) await client.query(statement);
      await client.query(insertSearch, [speech.words.length]);
      await client.query("commit");
      say(`${to.toLocaleString("en")} of ${count.toLocaleString("en")} recordings`);
    }
    await createIndexes(client, dropped, say);
    say("transcripts of the first workspace");
    await insertTranscripts(client, first.id);
  });
  await checkGrants(db);
  return {
    recordings: count,
    workspaceId: first.id,
    adminId: first.adminId,
    workspaceToken: first.workspaceToken,
    memberToken: await makePersonalToken(db, `user7@${domainOf(0)}`),
    commonWords: speech.words.slice(0, 20),
    rareWords: Array.from({ length: 20 }, (_, n) => speech.words[2000 + n * 700] ?? ""),
  };
}

const domainOf = (n: number): string => `w${n}.example`;

/** Users and teams of every workspace; everybody is in both teams. */
async function insertUsers(client: pg.Client, made: readonly MadeWorkspace[]): Promise<void> {
  await client.query(
    `insert into many_workspaces select n - 1, id, w.members_id
     from unnest($1::uuid[]) with ordinality m (id, n) join workspaces w using (id)`,
    [made.map(({ id }) => id)],
  );
  await client.query(
    `insert into many_users
     select w.n, u, uuidv7(), ($2::text[])[1 + u % cardinality($2)] || ' ' || ($3::text[])[1 + u % cardinality($3)],
       'user' || u || '@w' || w.n || '.example'
     from many_workspaces w, generate_series(0, $1::integer - 1) u`,
    [usersEach, firstNames, lastNames],
  );
  await client.query(
    "insert into many_teams select w.n, t, uuidv7() from many_workspaces w, generate_series(0, $1::integer - 1) t",
    [teamsEach],
  );
  await client.query(
    `insert into users (id, workspace_id, name, email, role)
     select u.id, w.id, u.name, u.email, 'member' from many_users u join many_workspaces w on w.n = u.workspace`,
  );
  await client.query(
    `insert into teams (id, workspace_id, name)
     select t.id, w.id, 'Team ' || t.n from many_teams t join many_workspaces w on w.n = t.workspace`,
  );
  await client.query(
    "insert into team_members (team_id, user_id) select t.id, u.id from many_teams t join many_users u using (workspace)",
  );
}

/** Four segments for each recording, indexed by the server's own function. */
async function insertTranscripts(client: pg.Client, workspaceId: string): Promise<void> {
  const sentences = Array.from({ length: 5000 }, () => speech.sentence());
  const inserted = await client.query<{ id: string }>(
    `with made as (
       insert into transcript_segments (recording_id, position, participant_id, speaker, start_ms, end_ms, text)
       select r.id, k, p.id, p.name, k * 6000, k * 6000 + 5900, pg_temp.pick($2, hashint8(r.duration_ms) + k, 41)
       from recordings r join participants p on p.recording_id = r.id and p.position = 0, generate_series(0, 3) k
       where r.workspace_id = $1)
     select id from recordings where workspace_id = $1`,
    [workspaceId, sentences],
  );
  const ids = inserted.rows.map(({ id }) => id);
  for (let from = 0; from < ids.length; from += 1000)
    await client.query("select parley_search_index(id, true, true) from unnest($1::uuid[]) id", [
      ids.slice(from, from + 1000),
    ]);
}
