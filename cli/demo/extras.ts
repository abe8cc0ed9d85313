import { randomUUID } from "node:crypto";
import { commandLine } from "../../server/audit/record.ts";
import type { Database } from "../../server/db/database.ts";
import { createHighlight } from "../../server/highlights/service.ts";
import { finishRun } from "../../server/intelligence/finish.ts";
import { claimRun, insertRun } from "../../server/intelligence/queries.ts";
import { createStory } from "../../server/stories/service.ts";
import type { DemoDependencies } from "./bring-in.ts";
import { type Cast, principalOf } from "./cast.ts";
import type { DemoMeeting, DemoStory } from "./types.ts";

/** What the summaries of the sample say they were written by. */
const writtenBy = "sample";

/**
 * Marks the highlights of a meeting; those that are there already are left alone, and those of lines that were cut off
 * are left out.
 * @returns ids by text.
 */
export async function markHighlights(
  db: Database,
  cast: Cast,
  meeting: DemoMeeting,
  recordingId: string,
): Promise<Map<string, string>> {
  const present = await db.kysely
    .selectFrom("highlights")
    .select(["id", "text"])
    .where("recording_id", "=", recordingId)
    .execute();
  const ids = new Map(present.map(({ id, text }) => [text, id]));
  for (const { from, lines, text, tags, by } of meeting.highlights ?? []) {
    const first = meeting.segments.findIndex((segment) => segment.text.startsWith(from));
    const start = meeting.segments[first];
    const end = meeting.segments[first + lines - 1];
    if (ids.has(text) || start === undefined || end === undefined) continue;
    const range = { timestamp: start.start, duration: end.end - start.start };
    ids.set(text, await createHighlight(db, principalOf(cast, by), recordingId, { text, tags, ...range }));
  }
  return ids;
}

/** Tells a story from highlights, once. */
export async function tellStory(
  deps: Pick<DemoDependencies, "db" | "jobs">,
  cast: Cast,
  story: DemoStory,
  highlights: ReadonlyMap<string, string>,
): Promise<void> {
  const present = await deps.db.kysely
    .selectFrom("stories")
    .select("id")
    .where("workspace_id", "=", cast.workspaceId)
    .where("title", "=", story.title)
    .executeTakeFirst();
  const ids = story.highlights.flatMap((text) => highlights.get(text) ?? []);
  if (present !== undefined || ids.length === 0) return;
  const { title, description, tags } = story;
  const asking = { principal: principalOf(cast, story.by), actor: commandLine(cast.workspaceId) };
  await createStory(deps, asking, { title, description, tags, highlight_ids: ids });
}

/**
 * Writes the summary and the action items of a meeting as a run of a language model would. Where a model is set up, it
 * says them itself.
 */
export async function writeSummary(
  { db, config }: Pick<DemoDependencies, "db" | "config">,
  meeting: DemoMeeting,
  recordingId: string,
): Promise<void> {
  if (meeting.summary === undefined || config.languageModel !== null) return;
  const people = await db.kysely
    .selectFrom("participants")
    .select(["id", "name"])
    .where("recording_id", "=", recordingId)
    .execute();
  const personId = (key: string | undefined): string | null => {
    const name = meeting.participants.find((person) => person.key === key)?.name;
    return people.find((person) => person.name === name)?.id ?? null;
  };
  const items = (meeting.actionItems ?? []).flatMap(({ line, text, assignee, isDone }) => {
    const segment = meeting.segments.find((spoken) => spoken.text.startsWith(line));
    if (segment === undefined) return [];
    return [
      {
        id: randomUUID(),
        status: isDone ? ("completed" as const) : ("pending" as const),
        timestamp: segment.start,
        text,
        quote: segment.text,
        assignee_id: personId(assignee),
      },
    ];
  });
  await db.kysely.transaction().execute((tx) => insertRun(tx, recordingId));
  const claimed = await claimRun(db.kysely, recordingId);
  if (claimed === undefined) return;
  const made = { summary: meeting.summary, title: "", meetingType: null, items, sections: [], notes: [] };
  await finishRun(db, recordingId, claimed, made, writtenBy);
}
