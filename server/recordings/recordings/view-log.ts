import type { FastifyRequest } from "fastify";
import { LRUCache } from "lru-cache";
import type pg from "pg";
import type { AuditAction } from "../../platform/audit/actions.ts";
import { type AuditActor, type AuditedRequest, actorOf, originOf } from "../../platform/audit/record.ts";

/** A view of a recording is recorded once per credential and clock hour. */
const hourMs = 3_600_000;

/** Views cached by this process, about 200 bytes each. Evicted ones are looked up in the log. */
const remembered = 50_000;

/** Entries written by one statement. */
const batch = 500;

type ViewAction = Extract<AuditAction, "recording_viewed" | "recording_downloaded">;

/** Records who viewed which recording. */
export interface ViewLog {
  /** Resolves when the log has an entry of this hour; at once if it is cached. */
  note(request: AuditedRequest, action: ViewAction, recordingId: string): Promise<void>;
  /** The same for a signed link, which has no user: views are distinguished by IP address. */
  noteLink(request: FastifyRequest, workspaceId: string, recordingId: string): Promise<void>;
}

interface View {
  readonly actor: AuditActor;
  readonly action: ViewAction;
  readonly recordingId: string;
}

/**
 * Keeps frequent reads from writing every time: only a credential's first view of a recording in an hour is recorded, before
 * the response is sent. Concurrent requests share one statement, so that a program that reads many recordings waits for
 * few commits.
 */
export function createViewLog({ pool }: { readonly pool: pg.Pool }): ViewLog {
  // Counted by size: with `max`, the cache would fill lists of that length when the server starts.
  const known = new LRUCache<string, Promise<void>>({
    maxSize: remembered,
    sizeCalculation: () => 1,
    ttl: hourMs,
  });
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
    // After a failure the next view is recorded.
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

/** Inserts the views that the log does not have for this hour; another process may have written them. */
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
