/**
 * The SQL that makes recordings n1..n2 of one workspace. `dice(n, salt, sides)` is a fixed hash, so that every run
 * makes the same data. Parameters are named here and numbered by `bind`.
 */

export const helpers = `
  create function pg_temp.dice(n bigint, salt integer, sides integer) returns integer
    language sql immutable parallel safe
    return ((hashint8extended(n, salt) & 2147483647) % sides)::integer;
  create function pg_temp.pick(list text[], n bigint, salt integer) returns text
    language sql immutable parallel safe
    return list[1 + pg_temp.dice(n, salt, cardinality(list))];
  create temp table batch (
    n bigint, id uuid, starts timestamptz(3), duration_ms integer, share_state text, external boolean,
    people integer, title text);
  create temp table people (n integer primary key, id uuid, name text, email text);
  create temp table teams_by_number (n integer primary key, id uuid);
  create temp table types_by_number (n integer, scope text, id uuid, primary key (scope, n));`;

/** $1 first n, $2 last n, $3 how many there will be, $4 percent shared with all, $5 rare n's, $6 rare word, $7.. words */
export const fillBatch = `
  insert into batch
  select n, uuidv7(starts - clock_timestamp()), starts, 300000 + pg_temp.dice(n, 1, 5100000),
    case when is_rare or pg_temp.dice(n, 2, 100) < $4 then
      case when pg_temp.dice(n, 3, 5) = 0 then 'public' else 'workspace' end else 'restricted' end,
    external, 3 + pg_temp.dice(n, 4, 4),
    pg_temp.pick($7, n, 5) || ' ' || pg_temp.pick($8, n, 6)
      || case when external then ' with ' || pg_temp.pick($9, n, 7) else '' end
      || case when is_rare then ' ' || $6 when pg_temp.dice(n, 8, 3) = 0 then ' #' || n % 997 else '' end
  from (
    select n, pg_temp.dice(n, 9, 2) = 0 as external, n = any($5::bigint[]) as is_rare,
      timestamptz '2021-01-01 08:00Z' + (interval '5 years' * (n::float8 / $3))
        + interval '1 millisecond' * pg_temp.dice(n, 10, 100000) as starts
    from generate_series($1::bigint, $2::bigint) n) s`;

/** $1 workspace */
export const insertRecordings = `
  insert into recordings (id, workspace_id, title, start_datetime, end_datetime, duration_ms, media_type, source,
    share_state, meeting_type_id, external, tags, transcript_language, calendar_event, created_at, updated_at)
  select b.id, $1, b.title, b.starts, b.starts + interval '1 millisecond' * b.duration_ms, b.duration_ms,
    'transcript', (array['meet', 'teams', 'upload', 'webex', 'zoom'])[1 + pg_temp.dice(b.n, 11, 5)],
    b.share_state, m.id, b.external,
    (array['follow-up', 'priority', 'q3', 'customer', 'internal'])[1:pg_temp.dice(b.n, 12, 4)], 'en',
    case when pg_temp.dice(b.n, 13, 10) < 7 then jsonb_build_object(
      'ical_uid', b.id || '@calendar.example',
      'scheduled_start_datetime', parley_timestamp(date_trunc('minute', b.starts)),
      'scheduled_end_datetime', parley_timestamp(date_trunc('minute', b.starts) + interval '1 hour')) end,
    b.starts, b.starts
  from batch b
  join types_by_number m on m.scope = case when b.external then 'external' else 'internal' end
    and m.n = pg_temp.dice(b.n, 14, 6)`;

/** Of a meeting with outsiders every second participant is one. $1 workspace, $2 first names, $3 last names, $4 users */
export const insertParticipants = `
  insert into participants
    (id, recording_id, workspace_id, position, name, email, scope, confirmed_attendee, attended,
     observed_join_time, observed_leave_time)
  select uuidv7(), b.id, $1, p, coalesce(u.name, pg_temp.pick($2, k, 15) || ' ' || pg_temp.pick($3, k, 16)),
    coalesce(u.email, case when is_known then 'guest' || pg_temp.dice(k, 17, 20000) || '@client.example' end),
    case when u.id is not null then 'internal' when is_known then 'external' else 'unknown' end,
    pg_temp.dice(k, 18, 10) < 8, true,
    case when pg_temp.dice(k, 19, 2) = 0 then b.starts + interval '1 second' * pg_temp.dice(k, 20, 120) end,
    case when pg_temp.dice(k, 19, 2) = 0 then b.starts + interval '1 millisecond' * b.duration_ms end
  from batch b
  cross join lateral generate_series(0, b.people - 1) p
  cross join lateral (select b.n * 8 + p as k, pg_temp.dice(b.n * 8 + p, 22, 10) > 0 as is_known) d
  left join people u on u.n = pg_temp.dice(k, 21, $4) and not (b.external and p % 2 = 1)`;

/** Participant 0 recorded; with every third recording a colleague did as well. $1 how many users */
export const insertRecorders = `
  insert into recording_recorders (recording_id, user_id, position)
  select b.id, u.id, p
  from batch b
  cross join lateral generate_series(0, case when pg_temp.dice(b.n, 23, 3) = 0 then 1 else 0 end) p
  join people u on u.n = (pg_temp.dice(b.n * 8, 21, $1) + p * (1 + pg_temp.dice(b.n, 24, $1 - 1))) % $1`;

/** $1 how many users */
export const insertUserShares = `
  insert into recording_user_shares (recording_id, user_id, created_at)
  select b.id, u.id, b.starts from batch b
  join people u on u.n = pg_temp.dice(b.n, 25, $1) where pg_temp.dice(b.n, 26, 100) < 15`;

/** $1 how many teams */
export const insertTeams = `
  insert into recording_teams (recording_id, team_id, created_at)
  select b.id, t.id, b.starts from batch b
  join teams_by_number t on t.n = pg_temp.dice(b.n, 27, $1) where pg_temp.dice(b.n, 28, 100) < 20`;

export const insertHighlights = `
  insert into highlights
    (id, recording_id, workspace_id, text, transcript, speakers, start_ms, duration_ms, tags, created_at)
  select uuidv7(), b.id, (select r.workspace_id from recordings r where r.id = b.id),
    'Decision ' || h || ' of ' || b.title, 'We agreed to go ahead with the proposal.',
    array['Speaker'], h * 60000, 20000 + pg_temp.dice(b.n, 29, 40000), array['decision'], b.starts
  from batch b cross join lateral generate_series(1, 1 + pg_temp.dice(b.n, 30, 3)) h
  where pg_temp.dice(b.n, 31, 4) = 0`;
