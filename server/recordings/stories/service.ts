import { randomUUIDv7 } from "node:crypto";
import type { Violation } from "../../../contract/errors.ts";
import { uniqueTags } from "../../../contract/recordings/tag.ts";
import { recordEvent } from "../../people/events/record-event.ts";
import { type Requester, recordAudit } from "../../platform/audit/record.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { invalidInput } from "../../platform/http/errors/problem.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { approve, withdrawRemoved } from "../public-link-records/approvals.ts";
import { cutClips } from "../public-link-records/clips.ts";
import { creatorOf, findStoryLinks, insertLink, plainLink } from "../public-link-records/queries.ts";
import { auditOf, revokeLinks } from "../public-link-records/revoke.ts";
import { mergeOrder } from "./merge-order.ts";
import {
  deleteStoryRow,
  findStoryHighlights,
  holdHighlights,
  insertStory,
  lockStory,
  type StoryRow,
  type StoryValues,
  saveStoryHighlights,
  updateStoryRow,
} from "./queries.ts";
import { checkCanChange, storyNotFound } from "./rights.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
}

/** The fields of a story that a client sent; undefined leaves a field unchanged. */
export interface StoryInput {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** An empty string removes it. */
  readonly banner_image_url?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly highlight_ids?: readonly string[] | undefined;
  readonly public?: boolean | undefined;
}

const emptyStory: StoryValues = {
  title: "",
  description: "",
  banner_image_url: null,
  tags: [],
};

/** Creates a story. Every member of the workspace may. @returns the id. */
export async function createStory(
  deps: Dependencies,
  requester: Requester,
  input: StoryInput & { readonly title: string },
): Promise<string> {
  const id = randomUUIDv7();
  const { principal } = requester;
  const linkId = await deps.db.kysely.transaction().execute(async (tx) => {
    const highlightIds = await holdNamed(tx, principal, input.highlight_ids ?? []);
    await insertStory(tx, {
      id,
      workspace_id: principal.workspaceId,
      created_by: principal.userId,
      ...applyInput(emptyStory, input),
    });
    await saveStoryHighlights(tx, id, highlightIds);
    await report(tx, principal.workspaceId, "story_added", id);
    return input.public === true ? createFirstLink(tx, requester, id, highlightIds) : null;
  });
  if (linkId !== null) await cutClips(deps, [linkId]);
  return id;
}

/** Changes a story. Records an event only if something changed. */
export async function updateStory(
  deps: Dependencies,
  requester: Requester,
  storyId: string,
  input: StoryInput,
): Promise<void> {
  const { principal } = requester;
  const linkIds = await change(deps.db, principal, storyId, input, async (tx, story, named, held) => {
    const values = applyInput(story, input);
    const rows = await findStoryHighlights(tx, principal, storyId);
    const current = rows.map((row) => row.highlight_id);
    const order = named === undefined ? current : mergeOrder(named, rows);
    const isReordered = !isSameList(order, current);
    if (isReordered) await saveStoryHighlights(tx, storyId, order);
    const isPublished = await publish(
      tx,
      requester,
      storyId,
      input.public,
      order.filter((id) => held.has(id)),
    );
    if (isSame(values, story) && !isReordered && !isPublished) return [];
    await updateStoryRow(tx, storyId, values);
    await report(tx, story.workspace_id, "story_updated", storyId);
    const links = (await findStoryLinks(tx, storyId)).map((link) => link.id);
    if (isReordered && links.length > 0) {
      await withdrawRemoved(tx, storyId);
      await approve(
        tx,
        principal,
        links,
        order.filter((id) => !current.includes(id)),
      );
    }
    return links;
  });
  await cutClips(deps, linkIds);
}

/**
 * Creates a story's first link, or revokes all its links.
 * @param highlightIds the highlights that the link shows.
 * @returns whether `public_url` changed.
 */
async function publish(
  tx: Tx,
  requester: Requester,
  storyId: string,
  isPublic: boolean | undefined,
  highlightIds: readonly string[],
): Promise<boolean> {
  if (isPublic === undefined) return false;
  const links = await findStoryLinks(tx, storyId);
  if (isPublic ? links.some((link) => link.is_active) : links.length === 0) return false;
  if (isPublic) {
    await createFirstLink(tx, requester, storyId, highlightIds);
    return true;
  }
  await revokeLinks(tx, requester.actor, { kind: "story", id: storyId });
  return true;
}

/** Creates a link that shows the highlights the caller may share. @returns its id. */
async function createFirstLink(
  tx: Tx,
  { principal, actor }: Requester,
  storyId: string,
  highlightIds: readonly string[],
): Promise<string> {
  const subject = { kind: "story", id: storyId } as const;
  const owner = { workspaceId: principal.workspaceId, createdBy: creatorOf(principal) };
  const id = await insertLink(tx, subject, owner);
  await approve(tx, principal, [id], highlightIds);
  await recordAudit(tx, actor, auditOf("public_link_created", subject, id, plainLink));
  return id;
}

/** Deletes a story; its highlights stay. */
export async function deleteStory(
  db: Database,
  { principal, actor }: Requester,
  storyId: string,
): Promise<{ success: true }> {
  await change(db, principal, storyId, {}, async (tx, story) => {
    await revokeLinks(tx, actor, { kind: "story", id: storyId });
    await deleteStoryRow(tx, storyId);
    await report(tx, story.workspace_id, "story_deleted", storyId);
  });
  return { success: true };
}

/** Locks the highlights to be added, then the story, and checks the right to change it. */
async function change<T>(
  db: Database,
  principal: Principal,
  storyId: string,
  input: StoryInput,
  apply: (tx: Tx, story: StoryRow, named: string[] | undefined, held: ReadonlySet<string>) => Promise<T>,
): Promise<T> {
  const { highlight_ids: highlightIds } = input;
  return db.kysely.transaction().execute(async (tx) => {
    // Highlights are locked before stories, but their violations are reported only to callers who may change the story.
    const held = await holdHighlights(
      tx,
      principal,
      highlightIds ?? [],
      input.public === true ? storyId : null,
    );
    const story = await lockStory(tx, principal.workspaceId, storyId);
    if (story === undefined) throw storyNotFound(storyId);
    checkCanChange(principal, story);
    const named = highlightIds && checkNamed(highlightIds, held);
    return apply(tx, story, named, held);
  });
}

async function holdNamed(tx: Tx, principal: Principal, ids: readonly string[]): Promise<string[]> {
  return checkNamed(ids, await holdHighlights(tx, principal, ids));
}

/**
 * @param held those of the ids that the caller can see.
 * @throws ProblemError `invalid_input` naming every id that is unknown, not visible or repeated.
 */
function checkNamed(highlightIds: readonly string[], held: ReadonlySet<string>): string[] {
  const ids = highlightIds.map((id) => id.toLowerCase());
  const faults: Violation[] = ids.flatMap((id, index) => {
    const pointer = `/highlight_ids/${index}`;
    if (!held.has(id)) return [{ pointer, detail: "is not a highlight that this token can see" }];
    if (ids.indexOf(id) < index) return [{ pointer, detail: "is already in the list" }];
    return [];
  });
  if (faults.length > 0) throw invalidInput(faults);
  return ids;
}

function applyInput(story: StoryValues, input: StoryInput): StoryValues {
  const banner = input.banner_image_url ?? story.banner_image_url ?? "";
  return {
    title: input.title ?? story.title,
    description: input.description ?? story.description,
    banner_image_url: banner === "" ? null : banner,
    tags: input.tags === undefined ? story.tags : uniqueTags(input.tags),
  };
}

function isSame(a: StoryValues, b: StoryValues): boolean {
  return (
    a.title === b.title &&
    a.description === b.description &&
    a.banner_image_url === b.banner_image_url &&
    isSameList(a.tags, b.tags)
  );
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}

async function report(
  tx: Tx,
  workspaceId: string,
  type: "story_added" | "story_updated" | "story_deleted",
  id: string,
): Promise<void> {
  await recordEvent(tx, { workspaceId, type, subjectId: id, data: { id } });
}
