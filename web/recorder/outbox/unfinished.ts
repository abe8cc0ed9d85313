import { t } from "@lingui/core/macro";
import type { QueryClient } from "@tanstack/react-query";
import { ApiError } from "../../api/client/api-error.ts";
import { createOutbox } from "./outbox.ts";
import { allFolders } from "./pieces.ts";
import { readStored } from "./stored.ts";
import { transfers } from "./transfers.ts";

/** Another tab works on a recording, or has uploaded or discarded it. */
class TakenError extends ApiError {
  constructor(text: () => string) {
    super(409, "wrong_state", text);
  }
}

/**
 * Begins to upload what is stored of a recording.
 * @throws TakenError
 */
export async function finishUpload(uploadId: string, queryClient: QueryClient): Promise<void> {
  await take(uploadId);
  // Read again: another tab may have sent a part of it.
  const stored = await readStored(uploadId);
  if (stored === null) throw await released(uploadId, () => t`It was uploaded or discarded in another tab.`);
  const { note, folder, pieces } = stored;
  const outbox = createOutbox(folder, pieces);
  transfers.begin({ uploadId, title: note.title, outbox }, { isStarted: true, queryClient });
  void transfers.finish(uploadId, note.moments);
}

/**
 * Removes a recording from the server, unless all of it has arrived, and from this browser.
 * @throws TakenError, or an error when the server can't be reached.
 */
export async function discardUnfinished(uploadId: string): Promise<void> {
  await take(uploadId);
  if (!(await allFolders()).has(uploadId))
    throw await released(uploadId, () => t`It was uploaded or discarded in another tab.`);
  await transfers.discard(uploadId);
}

async function take(uploadId: string): Promise<void> {
  if (!(await transfers.claim(uploadId)))
    throw new TakenError(() => t`It is open in another tab of this browser.`);
}

async function released(uploadId: string, text: () => string): Promise<TakenError> {
  await transfers.release(uploadId);
  return new TakenError(text);
}
