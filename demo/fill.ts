import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import { runLocalWorker } from "../server/connections/imports/local-worker.ts";
import { demoMeetings } from "./content/meetings/index.ts";
import { demoStories } from "./content/stories.ts";
import type { DemoMeeting } from "./content/types.ts";
import { ensureAccounts } from "./import/accounts.ts";
import { createDemoStory, createHighlights, writeSummary } from "./import/extras.ts";
import { type DemoDependencies, importMeeting } from "./import/import-meeting.ts";
import { runExclusively } from "./import/run-exclusively.ts";

export interface DemoOptions {
  /** Length to cut each meeting to; null: the whole meeting. */
  readonly minutes: number | null;
  /** Which meetings to create. Default: all. */
  readonly meetings?: readonly DemoMeeting[];
  /** Called after each meeting that this run has imported. */
  readonly onProgress?: (done: number, total: number, meeting: DemoMeeting) => void;
}

export interface DemoResult {
  /** The workspace's id. */
  readonly id: string;
  /** Whether this run imported a meeting. */
  readonly isNew: boolean;
  /** Every user's password if this run created the users, else null. */
  readonly password: string | null;
}

/** Rendering a meeting's media keeps one core busy; more than four at once only use more memory. */
const maxConcurrency = 4;

/**
 * Creates the sample workspace: its users, and each meeting through the import path. Skips whatever exists, so running
 * it again resumes an interrupted run. A second concurrent run waits for the first.
 */
export function fillDemo(deps: DemoDependencies, options: DemoOptions): Promise<DemoResult> {
  return runExclusively(deps.db, () => fill(deps, options));
}

async function fill(
  deps: DemoDependencies,
  { minutes, meetings = demoMeetings, onProgress }: DemoOptions,
): Promise<DemoResult> {
  const { db } = deps;
  const password = randomBytes(12).toString("base64url");
  const accounts = await ensureAccounts(db, password);
  const stopWorker = await runLocalWorker(deps);
  const highlights = new Map<string, string>();
  let isNew = false;
  let done = 0;
  const remaining = [...meetings];
  const importRemaining = async (): Promise<void> => {
    for (let meeting = remaining.shift(); meeting !== undefined; meeting = remaining.shift()) {
      const imported = await importMeeting(deps, accounts, meeting, minutes);
      const recorded =
        minutes === null ? meeting : await truncateToRecording(deps, meeting, imported.recordingId);
      const created = await createHighlights(db, accounts, recorded, imported.recordingId);
      for (const [text, id] of created) highlights.set(text, id);
      if (!(await hasSummary(deps, imported.recordingId)))
        await writeSummary(deps, recorded, imported.recordingId);
      isNew ||= imported.isNew;
      done += 1;
      if (imported.isNew) onProgress?.(done, meetings.length, meeting);
    }
  };
  try {
    const concurrency = Math.min(maxConcurrency, availableParallelism());
    const results = await Promise.allSettled(Array.from({ length: concurrency }, importRemaining));
    for (const result of results) if (result.status === "rejected") throw result.reason;
    for (const story of demoStories) await createDemoStory(deps, accounts, story, highlights);
  } finally {
    await stopWorker();
  }
  return { id: accounts.workspaceId, isNew, password: accounts.isNew ? password : null };
}

/** The meeting with only the lines within its recording's duration. */
async function truncateToRecording(
  { db }: DemoDependencies,
  meeting: DemoMeeting,
  recordingId: string,
): Promise<DemoMeeting> {
  const { duration_ms } = await db.kysely
    .selectFrom("recordings")
    .select("duration_ms")
    .where("id", "=", recordingId)
    .executeTakeFirstOrThrow();
  return { ...meeting, segments: meeting.segments.filter(({ end }) => end <= Number(duration_ms)) };
}

async function hasSummary({ db }: DemoDependencies, recordingId: string): Promise<boolean> {
  const found = await db.kysely
    .selectFrom("recordings")
    .select("ai_summary")
    .where("id", "=", recordingId)
    .executeTakeFirst();
  return found?.ai_summary != null;
}
