import { because } from "../../../contract/causes/causes.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Database } from "../../platform/db/database.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { lockFor } from "../../recordings/recordings/rights.ts";
import { markCanceled } from "./queries.ts";

/** Cancels a queued or running transcription. Its job notices and ends the engine or the request to the speech server. */
export async function cancelTranscription(
  db: Database,
  principal: Principal,
  recordingId: string,
): Promise<void> {
  await db.kysely.transaction().execute(async (tx) => {
    await lockFor(tx, principal, recordingId, "change", "cancel its transcription");
    if (!(await markCanceled(tx, recordingId, principal.scope === "workspace" ? null : principal.userId)))
      throw new ProblemError("wrong_state", because("not_transcribing"));
  });
}
