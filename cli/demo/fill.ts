import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import { pino } from "pino";
import { job, startPump } from "../../server/jobs/pump.ts";
import { judgeUploadJob } from "../../server/uploads/judge.ts";
import { promoteUploadJob } from "../../server/uploads/promote.ts";
import { promoteMediaJob } from "../../server/uploads/promote-media.ts";
import { alone } from "./alone.ts";
import { bringIn, type DemoDependencies } from "./bring-in.ts";
import { ensureCast } from "./cast.ts";
import { markHighlights, tellStory, writeSummary } from "./extras.ts";
import { demoMeetings } from "./meetings/index.ts";
import { demoStories } from "./stories.ts";
import type { DemoMeeting } from "./types.ts";

export interface DemoOptions {
  /** Only the first minutes of each meeting; null: all of them. */
  readonly minutes: number | null;
  /** Told after each meeting that this run has brought in. */
  readonly onProgress?: (done: number, all: number, meeting: DemoMeeting) => void;
}

export interface FilledDemo {
  /** Id of the workspace. */
  readonly id: string;
  /** Whether this run brought in a meeting. */
  readonly isNew: boolean;
  /** The admins' password, where this run made them. */
  readonly password: string | null;
}

/** Each film keeps a core busy; more than four at once only fill the memory. */
const mostAtOnce = 4;

/**
 * Makes the sample workspace: its people, and each meeting by the way that every recording takes. What is there is left
 * alone, so a run that was broken off goes on with the next. Of two runs at once the second waits for the first.
 */
export function fillDemo(deps: DemoDependencies, options: DemoOptions): Promise<FilledDemo> {
  return alone(deps.db, () => fill(deps, options));
}

async function fill(deps: DemoDependencies, { minutes, onProgress }: DemoOptions): Promise<FilledDemo> {
  const { db } = deps;
  const password = randomBytes(12).toString("base64url");
  const cast = await ensureCast(db, password);
  const stopWorking = workAlong(deps);
  const highlights = new Map<string, string>();
  let isNew = false;
  let done = 0;
  const waiting = [...demoMeetings];
  const takeOver = async (): Promise<void> => {
    for (let meeting = waiting.shift(); meeting !== undefined; meeting = waiting.shift()) {
      const made = await bringIn(deps, cast, meeting, minutes);
      const known = minutes === null ? meeting : await asRecorded(deps, meeting, made.recordingId);
      const marked = await markHighlights(db, cast, known, made.recordingId);
      for (const [text, id] of marked) highlights.set(text, id);
      if (!(await hasSummary(deps, made.recordingId))) await writeSummary(deps, known, made.recordingId);
      isNew ||= made.isNew;
      done += 1;
      if (made.isNew) onProgress?.(done, demoMeetings.length, meeting);
    }
  };
  try {
    const hands = Math.min(mostAtOnce, availableParallelism());
    const ends = await Promise.allSettled(Array.from({ length: hands }, takeOver));
    for (const end of ends) if (end.status === "rejected") throw end.reason;
    for (const story of demoStories) await tellStory(deps, cast, story, highlights);
  } finally {
    await stopWorking();
  }
  return { id: cast.workspaceId, isNew, password: cast.isNew ? password : null };
}

/** The lines that a recording of a meeting cut short has. */
async function asRecorded(
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

/** A worker for what the demo puts in. One of a server that runs takes its share; without one this does it all. */
function workAlong({ db, jobs, store, config }: DemoDependencies): () => Promise<void> {
  const pump = startPump(
    jobs,
    [
      job({
        name: "promote_upload",
        concurrency: 2,
        run: ({ uploadId }) => promoteUploadJob({ db, jobs, config }, uploadId),
      }),
      job({
        name: "judge_upload",
        concurrency: 2,
        run: ({ uploadId }) => judgeUploadJob({ db, jobs, store, config }, uploadId),
      }),
      job({
        name: "promote_media",
        concurrency: Math.max(1, Math.floor(availableParallelism() / 2)),
        run: ({ uploadId }) => promoteMediaJob({ db, jobs, store, config }, uploadId),
      }),
    ],
    pino({ level: "silent" }),
  );
  return () => pump.stop(30_000);
}
