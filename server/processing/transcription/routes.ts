import * as contract from "../../../contract/transcripts/transcript-editing.ts";
import { languageOf } from "../../../contract/workspace/spoken-language.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { cancelTranscription } from "./cancel.ts";
import { rerunTranscription } from "./rerun.ts";

/** Transcribes a recording again, and cancels that. */
export function transcriptionRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly config: Pick<Config, "transcription" | "dataDir">;
  },
): void {
  route(api, contract.rerunTranscription, ({ principal, params, body }) =>
    rerunTranscription(deps, principal, params.recording_id, {
      edits: body.edits,
      spokenLanguage: body.spoken_language === undefined ? undefined : languageOf(body.spoken_language),
    }),
  );

  route(api, contract.cancelTranscription, async ({ principal, params }) => {
    await cancelTranscription(deps.db, principal, params.recording_id);
    return { success: true as const };
  });
}
