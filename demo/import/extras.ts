import { randomUUID } from "node:crypto";
import { commandLine } from "../../server/platform/audit/record.ts";
import type { Database } from "../../server/platform/db/database.ts";
import { finishRun } from "../../server/processing/intelligence/finish.ts";
import { claimRun, insertRun } from "../../server/processing/intelligence/queries.ts";
import { hasLanguageModel } from "../../server/processing/models/index.ts";
import { createHighlight } from "../../server/recordings/highlights/service.ts";
import { createStory } from "../../server/recordings/stories/service.ts";
import { pointsOf } from "../content/points.ts";
import type { DemoMeeting, DemoStory } from "../content/types.ts";
import { type DemoAccounts, principalOf } from "./accounts.ts";
import type { DemoDependencies } from "./import-meeting.ts";

/** Stored as the language model of the sample summaries. */
const modelName = "sample";

/**
 * Creates a meeting's highlights. Existing ones stay as they are; those whose lines were cut off are skipped.
 * @returns highlight ids by text.
 */
export async function createHighlights(
  db: Database,
  accounts: DemoAccounts,
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
    ids.set(
      text,
      await createHighlight(db, principalOf(accounts, by), recordingId, { text, tags, ...range }),
    );
  }
  return ids;
}

/** Creates a story of highlights unless it exists. */
export async function createDemoStory(
  deps: Pick<DemoDependencies, "db" | "jobs">,
  accounts: DemoAccounts,
  story: DemoStory,
  highlights: ReadonlyMap<string, string>,
): Promise<void> {
  const present = await deps.db.kysely
    .selectFrom("stories")
    .select("id")
    .where("workspace_id", "=", accounts.workspaceId)
    .where("title", "=", story.title)
    .executeTakeFirst();
  const ids = story.highlights.flatMap((text) => highlights.get(text) ?? []);
  if (present !== undefined || ids.length === 0) return;
  const { title, description, tags } = story;
  const caller = { principal: principalOf(accounts, story.by), actor: commandLine(accounts.workspaceId) };
  await createStory(deps, caller, { title, description, tags, highlight_ids: ids });
}

/**
 * Saves a meeting's summary and action items as a language model's run would. With a language model configured, that
 * model writes them instead.
 */
export async function writeSummary(
  { db, config }: Pick<DemoDependencies, "db" | "config">,
  meeting: DemoMeeting,
  recordingId: string,
): Promise<void> {
  if (meeting.summary === undefined || (await hasLanguageModel(config))) return;
  const participants = await db.kysely
    .selectFrom("participants")
    .select(["id", "name"])
    .where("recording_id", "=", recordingId)
    .execute();
  const participantId = (key: string | undefined): string | null => {
    const name = meeting.participants.find((participant) => participant.key === key)?.name;
    return participants.find((participant) => participant.name === name)?.id ?? null;
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
        assignee_id: participantId(assignee),
      },
    ];
  });
  await db.kysely.transaction().execute((tx) => insertRun(tx, recordingId));
  const claimed = await claimRun(db.kysely, recordingId);
  if (claimed === undefined) return;
  const rest = { title: "", meetingType: null, sections: [], chapters: [], notes: [] };
  await finishRun(db, recordingId, claimed, { points: pointsOf(meeting), items, ...rest }, modelName);
}
