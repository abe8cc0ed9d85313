import { sql } from "kysely";
import { because } from "../../../contract/causes/causes.ts";
import type { Violation } from "../../../contract/errors.ts";
import { maxLinks } from "../../../contract/sharing/public-links.ts";
import { holdMembership, syncGrants } from "../../people/access/grants.ts";
import { recordEvent } from "../../people/events/record-event.ts";
import { type AuditActor, type Requester, recordAudit } from "../../platform/audit/record.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../platform/http/errors/problem.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { highlightNotFound } from "../../recordings/highlights/not-found.ts";
import { findRecordingOf, lockHighlight } from "../../recordings/highlights/queries.ts";
import {
  approve,
  findShareable,
  isLessRestrictive,
  withdrawUnshareable,
} from "../../recordings/public-link-records/approvals.ts";
import { cutClips, retryFailed } from "../../recordings/public-link-records/clips.ts";
import {
  countLinks,
  creatorOf,
  deleteLink,
  deleteLinks,
  findLink,
  findStoryLinks,
  insertLink,
  isActive,
  type LinkValues,
  lockLink,
  plainLink,
  type Subject,
  updateLink,
} from "../../recordings/public-link-records/queries.ts";
import { auditOf } from "../../recordings/public-link-records/revoke.ts";
import { lockRecording } from "../../recordings/recordings/queries.ts";
import { hasRight, lockFor, rightMissing } from "../../recordings/recordings/rights.ts";
import { findStoryHighlights, holdHighlights, lockStory } from "../../recordings/stories/queries.ts";
import { checkCanChange, storyNotFound } from "../../recordings/stories/rights.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
}

/** The settings of a link that a client sent, with the password hashed; undefined leaves a setting unchanged. */
export interface LinkInput {
  readonly expiresAt?: Date | null | undefined;
  readonly passwordHash?: string | null | undefined;
  readonly allowDownload?: boolean | undefined;
  readonly includeSummary?: boolean | undefined;
  readonly startMs?: number | null | undefined;
}

function linkNotFound(linkId: string): ProblemError {
  return new ProblemError("not_found", `there is no link ${linkId} that this token can see`);
}

/** Creates a link. @returns its id. */
export async function createLink(
  { db, jobs }: Dependencies,
  { principal, actor }: Requester,
  subject: Subject,
  input: LinkInput,
): Promise<string> {
  const linkId = await db.kysely.transaction().execute(async (tx) => {
    const locked = await lockSubject(tx, principal, subject);
    await checkCanBePublic(tx, subject);
    if ((await countLinks(tx, subject)) >= maxLinks)
      throw new ProblemError("wrong_state", because("link_limit", { limit: maxLinks }));
    const values = await applyInput(tx, subject, plainLink, input);
    const id = await reportStoryChange(tx, subject, () =>
      insertLink(
        tx,
        subject,
        { workspaceId: principal.workspaceId, createdBy: creatorOf(principal) },
        values,
      ),
    );
    await approve(tx, principal, [id], locked.highlightIds);
    await recordAudit(tx, actor, auditOf("public_link_created", subject, id, values));
    return id;
  });
  await cutClips({ db, jobs }, [linkId]);
  return linkId;
}

/** The number of highlights in a story, and how many of them a link created by the principal now would show. */
export async function previewStoryLink(
  db: Database,
  principal: Principal,
  storyId: string,
): Promise<{ highlights: number; shareable: number }> {
  return db.kysely.transaction().execute(async (tx) => {
    const rows = await findStoryHighlights(tx, principal, storyId);
    const ids = rows.map((row) => row.highlight_id);
    return { highlights: ids.length, shareable: (await findShareable(tx, principal, ids)).length };
  });
}

/** Changes a link. @param approves approves the current state of its highlights. */
export async function changeLink(
  { db, jobs }: Dependencies,
  { principal, actor }: Requester,
  linkId: string,
  { approves, ...input }: LinkInput & { readonly approves: boolean },
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
    // Links of highlights need no check: only users who may share the recording can change them.
    if (subject.kind === "story" && isLessRestrictive(values, link))
      await withdrawUnshareable(tx, principal, linkId);
    if (approves) {
      await approve(tx, principal, [linkId], locked.highlightIds);
      await retryFailed(tx, jobs, linkId);
    }
    if (names.length > 0 || approves)
      await recordAudit(tx, actor, auditOf("public_link_changed", subject, linkId, values));
  });
  await cutClips({ db, jobs }, [linkId]);
}

/** Revokes a link: its URL stops working immediately. */
export async function revokeLink(
  { db }: Pick<Dependencies, "db">,
  { principal, actor }: Requester,
  linkId: string,
): Promise<{ success: true }> {
  await db.kysely.transaction().execute(async (tx) => {
    // The recording's grants may change; every transaction locks the membership first.
    await holdMembership(tx, principal.workspaceId);
    const { subject } = await lockSubjectOf(tx, principal, linkId);
    const link = await lockLink(tx, linkId);
    if (link === undefined) throw linkNotFound(linkId);
    await reportStoryChange(tx, subject, () => deleteLink(tx, linkId));
    await recordAudit(tx, actor, auditOf("public_link_revoked", subject, linkId));
    if (subject.kind === "recording") await unpublishWithoutLinks(tx, actor, subject);
  });
  return { success: true };
}

/**
 * Unpublishes a recording whose last active link was revoked: its share_state becomes `workspace`, whose members could see
 * it before as well. Its expired links are deleted.
 */
async function unpublishWithoutLinks(tx: Tx, actor: AuditActor, subject: Subject): Promise<void> {
  const { rows } = await sql`
    select 1 from recordings r where r.id = ${subject.id} and r.share_state = 'public'
      and not exists (select 1 from public_links l where l.recording_id = r.id and ${sql.raw(isActive)})`.execute(
    tx,
  );
  if (rows.length === 0) return;
  for (const id of await deleteLinks(tx, subject))
    await recordAudit(tx, actor, auditOf("public_link_revoked", subject, id));
  await sql`
    update recordings set share_state = 'workspace', updated_at = clock_timestamp() where id = ${subject.id}`.execute(
    tx,
  );
  await syncGrants(tx, [subject.id]);
  await recordEvent(tx, {
    workspaceId: actor.workspaceId,
    type: "recording_updated",
    subjectId: subject.id,
    data: {},
  });
  await recordAudit(tx, actor, {
    action: "recording_share_state_changed",
    subject: { type: "recording", id: subject.id },
    details: { from: "public", to: "workspace" },
  });
}

/** Checks that the caller may see the links of a subject, which is allowed to users who may create them. */
export async function checkMayList(
  { db }: Pick<Dependencies, "db">,
  principal: Principal,
  subject: Subject,
): Promise<void> {
  await db.kysely.transaction().execute((tx) => lockSubject(tx, principal, subject));
}

interface Locked {
  /** The highlights that a link of the subject would show. */
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
    // A link must not reveal that a subject the caller can't see exists.
    throw error instanceof ProblemError && error.code === "not_found" ? linkNotFound(linkId) : error;
  }
}

/** Locks a link's subject in the order that every transaction locks, and checks the right to share it. */
async function lockSubject(tx: Tx, principal: Principal, { kind, id }: Subject): Promise<Locked> {
  if (kind === "recording") {
    await lockFor(tx, principal, id, "share", "share it by a link");
    return { highlightIds: [] };
  }
  if (kind === "highlight") {
    const recordingId = await findRecordingOf(tx, principal.workspaceId, id);
    if (recordingId === undefined) throw highlightNotFound(id);
    const recording = await lockRecording(tx, principal, recordingId);
    if (!recording?.is_visible || (await lockHighlight(tx, id)) === undefined) throw highlightNotFound(id);
    if (!hasRight(principal, "share", recording))
      throw rightMissing("share", "share a highlight of it by a link");
    return { highlightIds: [id] };
  }
  const held = await holdHighlights(tx, principal, [], id);
  const story = await lockStory(tx, principal.workspaceId, id);
  if (story === undefined) throw storyNotFound(id);
  checkCanChange(principal, story);
  const rows = await findStoryHighlights(tx, principal, id);
  // Excludes highlights that were added to the story after the locks were taken.
  return { highlightIds: rows.map((row) => row.highlight_id).filter((one) => held.has(one)) };
}

/** Only public recordings can have links. */
async function checkCanBePublic(tx: Tx, { kind, id }: Subject): Promise<void> {
  if (kind !== "recording") return;
  const { rows } = await sql<{ share_state: string }>`
    select share_state from recordings where id = ${id}`.execute(tx);
  if (rows[0]?.share_state !== "public")
    throw new ProblemError("wrong_state", because("recording_not_public"));
}

async function applyInput(
  tx: Tx,
  subject: Subject,
  before: LinkValues,
  input: LinkInput,
): Promise<LinkValues> {
  const violations: Violation[] = [];
  if (input.expiresAt != null && input.expiresAt.getTime() <= Date.now())
    violations.push({ pointer: "/expires_datetime", detail: "must be in the future" });
  if (input.includeSummary === true && subject.kind !== "recording")
    violations.push({ pointer: "/include_summary", detail: "is only for links of recordings" });
  if (input.startMs != null) {
    const lengthMs = subject.kind === "recording" ? await findLength(tx, subject.id) : null;
    if (lengthMs === null)
      violations.push({
        pointer: "/start",
        detail: "is only for links of recordings",
      });
    else if (input.startMs > 0 && input.startMs >= lengthMs)
      violations.push({
        pointer: "/start",
        ...because("not_before_recording_end", { ms: lengthMs }),
      });
  }
  if (violations.length > 0) throw invalidInput(violations);
  const { expiresAt = before.expires_at, passwordHash = before.password_hash } = input;
  const { allowDownload = before.allow_download, startMs = before.start_ms } = input;
  const { includeSummary = before.include_summary } = input;
  return {
    expires_at: expiresAt,
    password_hash: passwordHash,
    allow_download: allowDownload,
    include_summary: includeSummary,
    start_ms: startMs,
  };
}

async function findLength(tx: Tx, recordingId: string): Promise<number> {
  const { rows } = await sql<{ duration_ms: number }>`
    select duration_ms from recordings where id = ${recordingId}`.execute(tx);
  return rows[0]?.duration_ms ?? 0;
}

/** Records `story_updated` if the work changes the story's `public_url`. */
async function reportStoryChange<T>(tx: Tx, { kind, id }: Subject, work: () => Promise<T>): Promise<T> {
  if (kind !== "story") return work();
  const first = async () => (await findStoryLinks(tx, id)).find((link) => link.is_active)?.id;
  const before = await first();
  const result = await work();
  if ((await first()) !== before) {
    const { rows } = await sql<{ workspace_id: string }>`
      update stories set last_edited_at = clock_timestamp() where id = ${id} returning workspace_id`.execute(
      tx,
    );
    const workspaceId = rows[0]?.workspace_id;
    if (workspaceId !== undefined)
      await recordEvent(tx, { workspaceId, type: "story_updated", subjectId: id, data: { id } });
  }
  return result;
}
