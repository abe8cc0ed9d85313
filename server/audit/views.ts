import type { FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import type pg from "pg";
import type { AuditAction } from "./actions.ts";
import { type AuditActor, actorOf, originOf } from "./record.ts";

/** Within an hour of the clock, the same credential looking at the same recording again is no news. */
const hourMs = 3_600_000;

/** Views remembered by this process; each takes some 200 bytes. One that was forgotten is asked of the log. */
const remembered = 50_000;

/** Entries written by one statement. */
const batch = 500;

export type ViewAction = Extract<AuditAction, "recording_viewed" | "recording_downloaded">;

/** Writes down who looked at which recording. */
export interface ViewLog {
  /** Resolves once the log has an entry for it from this hour; at once where it is known to have one. */
  note(request: FastifyRequest, action: ViewAction, recordingId: string): Promise<void>;
  /** The same for whoever follows a signed link: nobody who was signed in, told apart by address. */
  noteLink(request: FastifyRequest, workspaceId: string, recordingId: string): Promise<void>;
}

interface View {
  readonly actor: AuditActor;
  readonly action: ViewAction;
  readonly recordingId: string;
}

/**
 * Hot reads must not write each time: the first view of a recording by a credential is an entry, written before the
 * answer goes out, and further ones within the hour are not. Entries of requests that come at the same time share one
 * statement, so that a program that reads many recordings waits for few commits.
 */
export function createViewLog({ pool }: { readonly pool: pg.Pool }): ViewLog {
  const known = new LRUCache<string, Promise<void>>({ max: remembered, ttl: hourMs });
  let waiting: { view: View; done: PromiseWithResolvers<void> }[] = [];
  let isWriting = false;

  async function writeAll(): Promise<void> {
    if (isWriting) return;
    isWriting = true;
    while (waiting.length > 0) {
      const now = waiting.slice(0, batch);
      waiting = waiting.slice(batch);
      try {
        await insertViews(
          pool,
          now.map(({ view }) => view),
        );
        for (const { done } of now) done.resolve();
      } catch (error) {
        for (const { done } of now) done.reject(error);
      }
    }
    isWriting = false;
  }

  function noteOnce(what: string, makeView: () => View): Promise<void> {
    const key = `${hourOf(Date.now())} ${what}`;
    const noted = known.get(key);
    if (noted !== undefined) return noted;
    const done = Promise.withResolvers<void>();
    known.set(key, done.promise);
    // Who could not be written down is written down the next time.
    done.promise.catch(() => known.delete(key));
    waiting.push({ view: makeView(), done });
    void writeAll();
    return done.promise;
  }

  return {
    note: (request, action, recordingId) =>
      noteOnce(`${request.principal.tokenId} ${action} ${recordingId}`, () => ({
        actor: actorOf(request),
        action,
        recordingId,
      })),
    noteLink: (request, workspaceId, recordingId) =>
      noteOnce(`${request.ip} ${recordingId}`, () => ({
        actor: {
          workspaceId,
          userId: null,
          userEmail: null,
          credential: "link",
          credentialId: null,
          ...originOf(request),
        },
        action: "recording_viewed",
        recordingId,
      })),
  };
}

function hourOf(at: number): number {
  return Math.floor(at / hourMs);
}

/** Writes the views of which the log has none from this hour: another process may have written them. */
async function insertViews(pool: pg.Pool, views: readonly View[]): Promise<void> {
  const column = <T>(read: (view: View) => T): T[] => views.map(read);
  await pool.query({
    name: "audit_views",
    text: `insert into audit_log
        (workspace_id, user_id, user_email, credential, credential_id, ip, user_agent, action, subject_type, subject_id)
      select v.workspace_id, v.user_id, v.user_email, v.credential, v.credential_id, v.ip, v.user_agent, v.action,
        'recording', v.subject_id
      from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::uuid[], $6::text[], $7::text[], $8::text[],
        $9::text[])
        as v (workspace_id, user_id, user_email, credential, credential_id, ip, user_agent, action, subject_id)
      where not exists (
        select 1 from audit_log l
        where l.workspace_id = v.workspace_id and l.subject_id = v.subject_id
          and l.occurred_at >= $10 and l.action = v.action
          and l.credential = v.credential and l.credential_id is not distinct from v.credential_id
          and (v.credential_id is not null or l.ip = v.ip))`,
    values: [
      column(({ actor }) => actor.workspaceId),
      column(({ actor }) => actor.userId),
      column(({ actor }) => actor.userEmail),
      column(({ actor }) => actor.credential),
      column(({ actor }) => actor.credentialId),
      column(({ actor }) => actor.ip),
      column(({ actor }) => actor.userAgent),
      column(({ action }) => action),
      column(({ recordingId }) => recordingId),
      new Date(hourOf(Date.now()) * hourMs),
    ],
  });
}
