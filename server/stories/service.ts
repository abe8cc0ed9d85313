import { randomUUIDv7 } from "node:crypto";
import type { Violation } from "../../contract/errors.ts";
import type { Principal } from "../access/principal.ts";
import type { Database, Tx } from "../db/database.ts";
import { record } from "../events/record.ts";
import { uniqueTags } from "../highlights/tags.ts";
import { invalidInput, ProblemError } from "../http/problem.ts";
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

export function storyNotFound(storyId: string): ProblemError {
  return new ProblemError("not_found", `there is no story ${storyId} in this workspace`);
}

/** What of a story a client says; what is undefined stays as it is. */
export interface StoryInput {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** An empty text takes it away. */
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
  is_public: false,
  public_version: 0,
};

/** Puts highlights together. Everybody of the workspace may. @returns the id. */
export async function createStory(
  db: Database,
  principal: Principal,
  input: StoryInput & { readonly title: string },
): Promise<string> {
  const id = randomUUIDv7();
  await db.kysely.transaction().execute(async (tx) => {
    const highlightIds = await holdNamed(tx, principal, input.highlight_ids ?? []);
    await insertStory(tx, {
      id,
      workspace_id: principal.workspaceId,
      created_by: principal.userId,
      ...applyInput(emptyStory, input),
    });
    await saveStoryHighlights(tx, id, highlightIds);
    await report(tx, principal.workspaceId, "story_added", id);
  });
  return id;
}

/** Changes a story. Only a real change is an event. */
export async function updateStory(
  db: Database,
  principal: Principal,
  storyId: string,
  input: StoryInput,
): Promise<void> {
  await change(db, principal, storyId, input.highlight_ids, async (tx, story, named) => {
    const values = applyInput(story, input);
    const current = await findStoryHighlights(tx, principal, storyId);
    const order = named === undefined ? undefined : mergeOrder(named, current);
    const isReordered =
      order !== undefined &&
      !isSameList(
        order,
        current.map((row) => row.highlight_id),
      );
    if (isSame(values, story) && !isReordered) return;
    await updateStoryRow(tx, storyId, values);
    if (isReordered) await saveStoryHighlights(tx, storyId, order);
    await report(tx, story.workspace_id, "story_updated", storyId);
  });
}

/** Removes a story; its highlights stay. */
export async function deleteStory(
  db: Database,
  principal: Principal,
  storyId: string,
): Promise<{ success: true }> {
  await change(db, principal, storyId, undefined, async (tx, story) => {
    await deleteStoryRow(tx, storyId);
    await report(tx, story.workspace_id, "story_deleted", storyId);
  });
  return { success: true };
}

/** Locks the highlights a story is to get, then the story, and checks the right to change it. */
async function change(
  db: Database,
  principal: Principal,
  storyId: string,
  highlightIds: readonly string[] | undefined,
  apply: (tx: Tx, story: StoryRow, named: string[] | undefined) => Promise<void>,
): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    // Highlights before stories, as everywhere; what is wrong with them is told to those who may change the story.
    const held = highlightIds === undefined ? undefined : await holdHighlights(tx, principal, highlightIds);
    const story = await lockStory(tx, principal.workspaceId, storyId);
    if (story === undefined) throw storyNotFound(storyId);
    if (!mayChangeStory(principal, story)) {
      throw new ProblemError(
        "forbidden",
        "only whoever made the story, admins and workspace tokens may change it",
      );
    }
    const named = highlightIds && held ? checkNamed(highlightIds, held) : undefined;
    await apply(tx, story, named);
  });
}

function mayChangeStory(principal: Principal, story: Pick<StoryRow, "created_by">): boolean {
  return (
    principal.scope === "workspace" || principal.role === "admin" || story.created_by === principal.userId
  );
}

async function holdNamed(tx: Tx, principal: Principal, ids: readonly string[]): Promise<string[]> {
  return checkNamed(ids, await holdHighlights(tx, principal, ids));
}

/**
 * @param held those of the ids that the caller sees.
 * @throws ProblemError `invalid_input` naming every id that is none, not visible, or there twice.
 */
function checkNamed(highlightIds: readonly string[], held: ReadonlySet<string>): string[] {
  const ids = highlightIds.map((id) => id.toLowerCase());
  const faults: Violation[] = ids.flatMap((id, index) => {
    const pointer = `/highlight_ids/${index}`;
    if (!held.has(id)) return [{ pointer, detail: "is no highlight that this token can see" }];
    if (ids.indexOf(id) < index) return [{ pointer, detail: "is in the list already" }];
    return [];
  });
  if (faults.length > 0) throw invalidInput(faults);
  return ids;
}

function applyInput(story: StoryValues, input: StoryInput): StoryValues {
  const isPublic = input.public ?? story.is_public;
  const banner = input.banner_image_url ?? story.banner_image_url ?? "";
  return {
    title: input.title ?? story.title,
    description: input.description ?? story.description,
    banner_image_url: banner === "" ? null : banner,
    tags: input.tags === undefined ? story.tags : uniqueTags(input.tags),
    is_public: isPublic,
    public_version: isPublic && !story.is_public ? story.public_version + 1 : story.public_version,
  };
}

function isSame(a: StoryValues, b: StoryValues): boolean {
  return (
    a.title === b.title &&
    a.description === b.description &&
    a.banner_image_url === b.banner_image_url &&
    a.is_public === b.is_public &&
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
  await record(tx, { workspaceId, type, subjectId: id, data: { id } });
}
