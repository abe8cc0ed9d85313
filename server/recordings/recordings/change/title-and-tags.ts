import { because } from "../../../../contract/causes/causes.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Database } from "../../../platform/db/database.ts";
import { invalidInput } from "../../../platform/http/errors/problem.ts";
import { updateColumns } from "./update-recording.ts";

/** Changes the title of a recording. */
export function renameRecording(db: Database, principal: Principal, recordingId: string, newTitle: string) {
  const title = newTitle.trim();
  return updateColumns(db, principal, recordingId, (recording) =>
    recording.title === title ? null : { title },
  );
}

const maxTags = 200;

/** Adds a tag, unless the recording has it already. */
export function addTag(db: Database, principal: Principal, recordingId: string, tag: string) {
  return updateColumns(db, principal, recordingId, (recording) => {
    const normalized = tag.normalize("NFC");
    if (recording.tags.includes(normalized)) return null;
    if (recording.tags.length >= maxTags)
      throw invalidInput([{ pointer: "/tag", ...because("too_many_tags", { max: maxTags }) }]);
    return { tags: [...recording.tags, normalized] };
  });
}

/** Removes a tag. */
export function removeTag(db: Database, principal: Principal, recordingId: string, tag: string) {
  const normalized = tag.normalize("NFC");
  return updateColumns(db, principal, recordingId, ({ tags }) =>
    tags.includes(normalized) ? { tags: tags.filter((other) => other !== normalized) } : null,
  );
}
