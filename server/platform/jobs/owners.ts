import { sql } from "kysely";
import type { Tx } from "../db/database.ts";

/** The field of a job's data that names its subject. */
interface JobSubject {
  readonly uploadId?: string;
  readonly recordingId?: string;
  readonly clipId?: string;
  readonly erasureId?: string;
  readonly runId?: string;
  readonly connectionEventId?: string;
}

type OwnerRow = { readonly workspace_id: string; readonly user_id: string };

/**
 * The user a job works for, so that the pump can share its slots between users and workspaces.
 * @param data the job's data, which names its upload, recording, clip or personal-data erasure by id.
 * @returns `<workspace id>/<user id>`; null for work without a user, such as mail, or whose subject is gone.
 */
export async function findOwner(tx: Tx, data: object): Promise<string | null> {
  const query = ownerQuery(data as JobSubject);
  if (query === null) return null;
  const { rows } = await query.execute(tx);
  const [owner] = rows;
  return owner === undefined ? null : `${owner.workspace_id}/${owner.user_id}`;
}

function ownerQuery(data: JobSubject) {
  if (data.uploadId !== undefined)
    // A workspace token uploads for the users it credits: the first recorder counts, not the token's issuer.
    return sql<OwnerRow>`
      select workspace_id,
        case when scope = 'personal' then created_by else coalesce(recorder_ids[1], created_by) end as user_id
      from uploads where id = ${data.uploadId}`;
  if (data.recordingId !== undefined) return ownerOfRecording(sql`select ${data.recordingId}::uuid`);
  if (data.clipId !== undefined)
    return ownerOfRecording(sql`select recording_id from clips where id = ${data.clipId}`);
  if (data.erasureId !== undefined)
    return sql<OwnerRow>`
      select workspace_id, workspace_id as user_id from erasures where id = ${data.erasureId}`;
  if (data.runId !== undefined)
    return sql<OwnerRow>`
      select workspace_id, created_by as user_id from import_runs where id = ${data.runId}`;
  if (data.connectionEventId !== undefined)
    return sql<OwnerRow>`
      select c.workspace_id, c.created_by as user_id
      from connection_events e join connections c on c.id = e.connection_id where e.id = ${data.connectionEventId}`;
  return null;
}

/** A recording counts for its first recorder, or for the workspace once it has none. */
function ownerOfRecording(recordingId: ReturnType<typeof sql>) {
  return sql<OwnerRow>`
    select r.workspace_id, coalesce(
      (select user_id from recording_recorders where recording_id = r.id order by position limit 1),
      r.workspace_id) as user_id
    from recordings r where r.id = (${recordingId})`;
}
