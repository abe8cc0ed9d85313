import { sql } from "kysely";
import type { Violation } from "../../contract/errors.ts";
import { maxLinks } from "../../contract/public-links.ts";
import type { Principal } from "../access/principal.ts";
import { type AuditActor, recordAudit } from "../audit/record.ts";
import type { Database, Tx } from "../db/database.ts";
import { record } from "../events/record.ts";
import { findRecordingOf, lockHighlight } from "../highlights/queries.ts";
import { highlightNotFound } from "../highlights/rights.ts";
import { invalidInput, ProblemError } from "../http/problem.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { lockRecording } from "../recordings/queries.ts";
import { lockForChange, mayChange } from "../recordings/rights.ts";
import { findStoryHighlights, holdHighlights, lockStory } from "../stories/queries.ts";
import { checkMayChange, storyNotFound } from "../stories/rights.ts";
import { agree, forgetUnshareable, isFreer } from "./agree.ts";
import { requestClips, retryFailed } from "./clips.ts";
import {
  countLinks,
  deleteLink,
  findLink,
  findStoryLinks,
  insertLink,
  type LinkValues,
  lockLink,
  plainLink,
  type Subject,
  updateLink,
} from "./queries.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
}

/** Who asks, and as whom the audit log names them. */
export interface Asking {
  readonly principal: Principal;
  readonly actor: AuditActor;
}

/** What of a link a client says, the password hashed; what is undefined stays as it is. */
export interface LinkInput {
  readonly expiresAt?: Date | null | undefined;
  readonly passwordHash?: string | null | undefined;
  readonly allowDownload?: boolean | undefined;
  readonly startMs?: number | null | undefined;
}

function linkNotFound(linkId: string): ProblemError {
  return new ProblemError("not_found", `there is no link ${linkId} that this token can see`);
}

/** Makes a link. @returns its id. */
export async function createLink(
  { db, jobs }: Dependencies,
  { principal, actor }: Asking,
  subject: Subject,
  input: LinkInput,
): Promise<string> {
  const linkId = await db.kysely.transaction().execute(async (tx) => {
    const locked = await lockSubject(tx, principal, subject);
    await checkCanBePublic(tx, subject);
    if ((await countLinks(tx, subject)) >= maxLinks)
      throw new ProblemError(
        "wrong_state",
        `it has ${maxLinks} links, which is the most; take one back first`,
      );
    const values = await applyInput(tx, subject, plainLink, input);
    const id = await reportStoryChange(tx, subject, () =>
      insertLink(
        tx,
        subject,
        { workspaceId: principal.workspaceId, createdBy: creatorOf(principal) },
        values,
      ),
    );
    await agree(tx, principal, [id], locked.highlightIds);
    await recordAudit(tx, actor, auditOf("public_link_created", subject, id, values));
    return id;
  });
  await cutClips({ db, jobs }, [linkId]);
  return linkId;
}

/** Changes a link. @param agrees lets it show the highlights as they are now. */
export async function changeLink(
  { db, jobs }: Dependencies,
  { principal, actor }: Asking,
  linkId: string,
  { agrees, ...input }: LinkInput & { readonly agrees: boolean },
): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    const { subject, locked } = await lockSubjectOf(tx, principal, linkId);
    const link = await lockLink(tx, linkId);
    if (link === undefined) throw linkNotFound(linkId);
    const values = await applyInput(tx, subject, link, input);
    const names = (Object.keys(values) as (keyof LinkValues)[]).filter(
      (name) => values[name]?.valueOf() !== link[name]?.valueOf(),
    );
    if (names.length > 0) await reportStoryChange(tx, subject, () => updateLink(tx, linkId, values));
    // A highlight's link is changed by those alone who may share its recording.
    if (subject.kind === "story" && isFreer(values, link)) await forgetUnshareable(tx, principal, linkId);
    if (agrees) {
      await agree(tx, principal, [linkId], locked.highlightIds);
      await retryFailed(tx, jobs, linkId);
    }
    if (names.length > 0 || agrees)
      await recordAudit(tx, actor, auditOf("public_link_changed", subject, linkId, values));
  });
  await cutClips({ db, jobs }, [linkId]);
}

/** Takes a link back: whoever has its address finds nothing from now on. */
export async function revokeLink(
  { db }: Pick<Dependencies, "db">,
  { principal, actor }: Asking,
  linkId: string,
): Promise<{ success: true }> {
  await db.kysely.transaction().execute(async (tx) => {
    const { subject } = await lockSubjectOf(tx, principal, linkId);
    const link = await lockLink(tx, linkId);
    if (link === undefined) throw linkNotFound(linkId);
    await reportStoryChange(tx, subject, () => deleteLink(tx, linkId));
    await recordAudit(tx, actor, auditOf("public_link_revoked", subject, linkId));
  });
  return { success: true };
}

/** Checks that the caller may see the links of a subject: whoever may make one. */
export async function checkMayList(
  { db }: Pick<Dependencies, "db">,
  principal: Principal,
  subject: Subject,
): Promise<void> {
  await db.kysely.transaction().execute((tx) => lockSubject(tx, principal, subject));
}

/**
 * Has the files cut that links show now. In a transaction of its own, since it locks recordings, which come before
 * stories; what a crash leaves out, the sweep does.
 */
export async function cutClips({ db, jobs }: Dependencies, linkIds: readonly string[]): Promise<void> {
  if (linkIds.length === 0) return;
  await db.kysely.transaction().execute((tx) => requestClips(tx, jobs, linkIds));
  jobs.wake();
}

/** For a workspace token nobody is named: it acts for the workspace. */
export function creatorOf(principal: Principal): string | null {
  return principal.scope === "workspace" ? null : principal.userId;
}

/** What the audit log says of a link. */
export function auditOf(
  action: "public_link_created" | "public_link_changed" | "public_link_revoked",
  subject: Subject,
  linkId: string,
  values?: LinkValues,
) {
  return {
    action,
    subject: { type: subject.kind, id: subject.id },
    details: {
      link_id: linkId,
      ...(values === undefined
        ? {}
        : {
            expires_datetime: values.expires_at?.toISOString() ?? null,
            has_password: values.password_hash !== null,
            allow_download: values.allow_download,
          }),
    },
  } as const;
}

interface Locked {
  /** What a link of the subject would show. */
  readonly highlightIds: readonly string[];
}

async function lockSubjectOf(
  tx: Tx,
  principal: Principal,
  linkId: string,
): Promise<{ subject: Subject; locked: Locked }> {
  const link = await findLink(tx, linkId);
  if (link === undefined || link.workspace_id !== principal.workspaceId) throw linkNotFound(linkId);
  const subject = { kind: link.kind, id: link.subject_id };
  try {
    return { subject, locked: await lockSubject(tx, principal, subject) };
  } catch (error) {
    // What the caller can't see is not told by its link.
    throw error instanceof ProblemError && error.code === "not_found" ? linkNotFound(linkId) : error;
  }
}

/** Locks what a link leads to, in the order of everywhere, and checks the right to share it. */
async function lockSubject(tx: Tx, principal: Principal, { kind, id }: Subject): Promise<Locked> {
  if (kind === "recording") {
    await lockForChange(tx, principal, id, "share it by a link");
    return { highlightIds: [] };
  }
  if (kind === "highlight") {
    const recordingId = await findRecordingOf(tx, principal.workspaceId, id);
    if (recordingId === undefined) throw highlightNotFound(id);
    const recording = await lockRecording(tx, principal, recordingId);
    if (!recording?.is_visible || (await lockHighlight(tx, id)) === undefined) throw highlightNotFound(id);
    if (!mayChange(principal, recording))
      throw new ProblemError(
        "forbidden",
        "only those who may share the recording may share a part of it by a link: its recorders, admins and workspace tokens",
      );
    return { highlightIds: [id] };
  }
  const held = await holdHighlights(tx, principal, [], id);
  const story = await lockStory(tx, principal.workspaceId, id);
  if (story === undefined) throw storyNotFound(id);
  checkMayChange(principal, story);
  const rows = await findStoryHighlights(tx, principal, id);
  // One that came into the story just now was not locked.
  return { highlightIds: rows.map((row) => row.highlight_id).filter((one) => held.has(one)) };
}

/** Recordings have links only while they are public. */
async function checkCanBePublic(tx: Tx, { kind, id }: Subject): Promise<void> {
  if (kind !== "recording") return;
  const { rows } = await sql<{ share_state: string }>`
    select share_state from recordings where id = ${id}`.execute(tx);
  if (rows[0]?.share_state !== "public")
    throw new ProblemError(
      "wrong_state",
      "the recording is not public, so it has no links; set its share_state to public first",
    );
}

async function applyInput(
  tx: Tx,
  subject: Subject,
  before: LinkValues,
  input: LinkInput,
): Promise<LinkValues> {
  const faults: Violation[] = [];
  if (input.expiresAt != null && input.expiresAt.getTime() <= Date.now())
    faults.push({ pointer: "/expires_datetime", detail: "must lie in the future" });
  if (input.startMs != null) {
    const lengthMs = subject.kind === "recording" ? await findLength(tx, subject.id) : null;
    if (lengthMs === null)
      faults.push({
        pointer: "/start",
        detail: "is for links of recordings; a highlight begins at its start",
      });
    else if (input.startMs > 0 && input.startMs >= lengthMs)
      faults.push({
        pointer: "/start",
        detail: `must lie before the end of the recording, at ${lengthMs} ms`,
      });
  }
  if (faults.length > 0) throw invalidInput(faults);
  const { expiresAt = before.expires_at, passwordHash = before.password_hash } = input;
  const { allowDownload = before.allow_download, startMs = before.start_ms } = input;
  return {
    expires_at: expiresAt,
    password_hash: passwordHash,
    allow_download: allowDownload,
    start_ms: startMs,
  };
}

async function findLength(tx: Tx, recordingId: string): Promise<number> {
  const { rows } = await sql<{ duration_ms: number }>`
    select duration_ms from recordings where id = ${recordingId}`.execute(tx);
  return rows[0]?.duration_ms ?? 0;
}

/** A story whose `public_url` is another one by now has changed. */
async function reportStoryChange<T>(tx: Tx, { kind, id }: Subject, work: () => Promise<T>): Promise<T> {
  if (kind !== "story") return work();
  const first = async () => (await findStoryLinks(tx, id)).find((link) => link.is_good)?.id;
  const before = await first();
  const result = await work();
  if ((await first()) !== before) {
    const { rows } = await sql<{ workspace_id: string }>`
      update stories set last_edited_at = clock_timestamp() where id = ${id} returning workspace_id`.execute(
      tx,
    );
    const workspaceId = rows[0]?.workspace_id;
    if (workspaceId !== undefined)
      await record(tx, { workspaceId, type: "story_updated", subjectId: id, data: { id } });
  }
  return result;
}
