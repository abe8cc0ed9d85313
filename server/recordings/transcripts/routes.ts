import { because } from "../../../contract/causes/causes.ts";
import * as contract from "../../../contract/transcripts/transcript-editing.ts";
import { getTranscriptEdit, listTranscriptEdits } from "../../../contract/transcripts/transcript-history.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { readRows } from "../../platform/http/page.ts";
import { type Api, Ready, route } from "../../platform/http/routing/route.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { canSeeRecording } from "../recordings/queries.ts";
import { recordingNotFound } from "../recordings/rights.ts";
import type { ViewLog } from "../recordings/view-log.ts";
import { assignSegments, correctTranscript, mergeSpeakers, renameSpeaker } from "./edits.ts";
import { findEdit, findEdits, findUsed } from "./history.ts";
import { findTranscriptPart, findTranscriptView } from "./queries.ts";
import { supplyTranscript } from "./supply.ts";
import { undoEdit } from "./undo.ts";
import { renderWordCues, renderWordsView } from "./words-view.ts";

/** Enough for a transcript of 50,000 segments. */
const transcriptBodyLimit = 12 * 1024 * 1024;

/** Reads, edits and replaces transcripts. */
export function transcriptRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly views: ViewLog;
    readonly config: Pick<Config, "pageSize">;
    /** Follow-up work for a new transcript, in the transaction that writes it. */
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

  route(api, contract.getTranscriptView, async ({ principal, params, query, request }) => {
    await mustSee(principal, params.recording_id);
    const json =
      query.words === "true"
        ? await renderWordsView(db, params.recording_id)
        : await findTranscriptView(db.pool, params.recording_id);
    // Deleted in between.
    if (json === undefined) throw recordingNotFound(params.recording_id);
    await views.note(request, "recording_viewed", params.recording_id);
    return new Ready(json);
  });

  route(api, contract.readTranscriptPart, async ({ principal, params, query, request }) => {
    await mustSee(principal, params.recording_id);
    const part = await findTranscriptPart(db.pool, params.recording_id, query);
    await views.note(request, "recording_viewed", params.recording_id);
    return part;
  });

  route(api, contract.getWordCues, async ({ principal, params, request }) => {
    await mustSee(principal, params.recording_id);
    const cues = await renderWordCues(db, params.recording_id);
    if (cues === undefined) throw recordingNotFound(params.recording_id);
    await views.note(request, "recording_viewed", params.recording_id);
    return new Ready(cues);
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
    const before = query.before === undefined ? null : Number(query.before);
    const { rows, last } = await readRows(config.pageSize, (limit) =>
      findEdits(db.kysely, params.recording_id, { before, limit }),
    );
    return {
      edits: rows,
      next_before: last?.number ?? null,
      transcribed_with: await findUsed(db.kysely, params.recording_id),
    };
  });

  route(api, getTranscriptEdit, async ({ principal, params }) => {
    await mustSee(principal, params.recording_id);
    const edit = await findEdit(db.kysely, params.recording_id, Number(params.number));
    if (edit === undefined)
      throw new ProblemError("not_found", because("edit_missing", { number: Number(params.number) }));
    return edit;
  });
}
