import type { Selectable } from "kysely";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import type { Recordings } from "../../../platform/db/types.ts";
import { invalidInput } from "../../../platform/http/errors/problem.ts";
import { changedIf, updateRecording } from "./update-recording.ts";

/** Changes the title of a recording. */
export function renameRecording(db: Database, principal: Principal, recordingId: string, newTitle: string) {
  const title = newTitle.trim();
  return updateRecording(db, principal, recordingId, async (tx, recording) => {
    if (recording.title === title) return changedIf(false);
    await setColumns(tx, recording.id, { title });
    return changedIf(true);
  });
}

const maxTags = 200;

/** Adds a tag, unless the recording has it already. */
export function addTag(db: Database, principal: Principal, recordingId: string, tag: string) {
  return updateRecording(db, principal, recordingId, async (tx, recording) => {
    const normalized = tag.normalize("NFC");
    if (recording.tags.includes(normalized)) return changedIf(false);
    if (recording.tags.length >= maxTags)
      throw invalidInput([
        { pointer: "/tag", detail: `exceeds the limit of ${maxTags} tags per recording; remove a tag first` },
      ]);
    await setColumns(tx, recording.id, { tags: [...recording.tags, normalized] });
    return changedIf(true);
  });
}

/** Removes a tag. */
export function removeTag(db: Database, principal: Principal, recordingId: string, tag: string) {
  const normalized = tag.normalize("NFC");
  return updateRecording(db, principal, recordingId, async (tx, recording) => {
    if (!recording.tags.includes(normalized)) return changedIf(false);
    await setColumns(tx, recording.id, {
      tags: recording.tags.filter((other) => other !== normalized),
    });
    return changedIf(true);
  });
}

async function setColumns(
  tx: Tx,
  recordingId: string,
  changes: Partial<Pick<Selectable<Recordings>, "title" | "tags">>,
): Promise<void> {
  await tx.updateTable("recordings").set(changes).where("id", "=", recordingId).execute();
}
