import * as contract from "../../contract/transcript-editing.ts";
import { getTranscriptEdit, listTranscriptEdits } from "../../contract/transcript-history.ts";
import type { Principal } from "../access/principal.ts";
import type { ViewLog } from "../audit/views.ts";
import type { Config } from "../config.ts";
import type { Database, Tx } from "../db/database.ts";
import { ProblemError } from "../http/problem.ts";
import { type Api, Ready, route } from "../http/route.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { canSeeRecording } from "../recordings/queries.ts";
import { recordingNotFound } from "../recordings/rights.ts";
import { assignSegments, correctTranscript, mergeSpeakers, renameSpeaker } from "./edits.ts";
import { findEdit, findEdits } from "./history.ts";
import { findTranscriptView } from "./queries.ts";
import { rerunTranscription } from "./rerun.ts";
import { supplyTranscript } from "./supply.ts";
import { undoEdit } from "./undo.ts";

/** A transcript of 50,000 segments has room in it. */
const transcriptBodyLimit = 12 * 1024 * 1024;

/** Reading and editing transcripts, and having them made anew. */
export function transcriptRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly views: ViewLog;
    readonly config: Pick<Config, "pageSize" | "transcription">;
    /** What follows from a new transcript, in the transaction that writes it. */
    readonly onTranscript: (
      tx: Tx,
      recording: { readonly id: string; readonly workspaceId: string },
    ) => Promise<void>;
  },
): void {
  const { db, jobs, views, config, onTranscript } = deps;
  const mustSee = async (principal: Principal, recordingId: string): Promise<void> => {
    if (!(await canSeeRecording(db.pool, principal, recordingId))) throw recordingNotFound(recordingId);
  };

  route(api, contract.getTranscriptView, async ({ principal, params, request }) => {
    await mustSee(principal, params.recording_id);
    const json = await findTranscriptView(db.pool, params.recording_id);
    // Deleted in between.
    if (json === undefined) throw recordingNotFound(params.recording_id);
    await views.note(request, "recording_viewed", params.recording_id);
    return new Ready(json);
  });

  route(api, contract.correctTranscript, ({ principal, params, body }) =>
    correctTranscript(db, principal, params.recording_id, body),
  );
  route(api, contract.renameSpeaker, ({ principal, params, body }) =>
    renameSpeaker(db, principal, params.recording_id, body),
  );
  route(api, contract.mergeSpeakers, ({ principal, params, body }) =>
    mergeSpeakers(db, principal, params.recording_id, body),
  );
  route(api, contract.assignSegments, ({ principal, params, body }) =>
    assignSegments(db, principal, params.recording_id, body),
  );
  route(api, contract.undoTranscriptEdit, ({ principal, params, body }) =>
    undoEdit(db, principal, params.recording_id, body.transcript_version, body.edit),
  );
  route(api, contract.rerunTranscription, ({ principal, params, body }) =>
    rerunTranscription(deps, principal, params.recording_id, body.edits),
  );

  route(
    api,
    contract.supplyTranscript,
    async ({ principal, params, body }) => {
      const result = await supplyTranscript(db, principal, params.recording_id, body, onTranscript);
      jobs.wake();
      return result;
    },
    { bodyLimit: transcriptBodyLimit },
  );

  route(api, listTranscriptEdits, async ({ principal, params, query }) => {
    await mustSee(principal, params.recording_id);
    const rows = await findEdits(db.kysely, params.recording_id, {
      before: query.before === undefined ? null : Number(query.before),
      // One more than the page shows whether there is a next one.
      limit: config.pageSize + 1,
    });
    const page = rows.slice(0, config.pageSize);
    return { edits: page, next_before: rows.length > page.length ? (page.at(-1)?.number ?? null) : null };
  });

  route(api, getTranscriptEdit, async ({ principal, params }) => {
    await mustSee(principal, params.recording_id);
    const edit = await findEdit(db.kysely, params.recording_id, Number(params.number));
    if (edit === undefined)
      throw new ProblemError("not_found", `the history of this transcript has no edit ${params.number}`);
    return edit;
  });
}
