import { sql } from "kysely";
import type { Tx } from "../../platform/db/database.ts";
import { prepared } from "../../platform/db/prepared.ts";

/**
 * Updates recording_grants to who may see the recordings, in the transaction that changed it. This statement is the whole
 * visibility rule (design, "Who sees a recording"): workspace tokens see everything; a user sees the recordings they
 * recorded, that are shared with them, one of their teams or the workspace, and that they attended (matched by email); that a
 * calendar says they were invited is no ground, unless a user chose the meeting.
 * Nobody sees a recording in the trash.
 *
 * Locks the recordings first, ordered by id, so that of two concurrent changes the later one sees the earlier one.
 */
export async function syncGrants(tx: Tx, recordingIds: readonly string[]): Promise<void> {
  const [first] = recordingIds;
  if (first === undefined) return;
  // Of an array PostgreSQL expects more than one recording, and therefore plans again for each instead of keeping its plan.
  const these = recordingIds.length === 1 ? sql`= ${first}::uuid` : sql`= any(${recordingIds}::uuid[])`;
  await sql`select id from recordings where id ${these} order by id for update ${prepared}`.execute(tx);
  await sql`
    with wanted as (
      select p.principal_id, r.start_datetime, r.id as recording_id
      from recordings r
      cross join lateral (
        select r.workspace_id as principal_id
        union
        select w.members_id from workspaces w
          where w.id = r.workspace_id and r.share_state in ('workspace', 'public')
        union
        select rr.user_id from recording_recorders rr where rr.recording_id = r.id
        union
        select s.user_id from recording_user_shares s where s.recording_id = r.id
        union
        select rt.team_id from recording_teams rt where rt.recording_id = r.id
        union
        select u.id from participants a
          join users u on u.workspace_id = r.workspace_id and u.email_key = a.email_key
          where a.recording_id = r.id and not a.is_invited
      ) p
      where r.id ${these}
        and not exists (select 1 from trashed_recordings t where t.recording_id = r.id)
    ), gone as (
      delete from recording_grants g
      where g.recording_id ${these}
        and not exists (
          select 1 from wanted w
          where w.principal_id = g.principal_id and w.start_datetime = g.start_datetime
            and w.recording_id = g.recording_id)
    )
    insert into recording_grants (principal_id, start_datetime, recording_id)
    select principal_id, start_datetime, recording_id from wanted
    on conflict (principal_id, start_datetime, recording_id) do nothing ${prepared}`.execute(tx);
}

/**
 * Keeps users from joining the workspace until the transaction ends: a user who joins between the lookup by email and the
 * commit would miss the grant. A shared lock.
 */
export async function holdMembership(tx: Tx, workspaceId: string): Promise<void> {
  await sql`select id from workspaces where id = ${workspaceId} for share ${prepared}`.execute(tx);
}

/** Takes the exclusive counterpart of `holdMembership`, to change the workspace's users. */
export async function changeMembership(tx: Tx, workspaceId: string): Promise<void> {
  await sql`select id from workspaces where id = ${workspaceId} for no key update`.execute(tx);
}
