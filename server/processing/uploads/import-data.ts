import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Tx } from "../../platform/db/database.ts";
import type { ImportData } from "../../platform/db/json-columns.ts";
import type { NewHighlight, NewParticipant, NewRecording } from "../../recordings/recordings/create.ts";
import type { UploadRow } from "./queries.ts";

/** What an import, or a recording from another installation, adds to the recording of an upload. */
export function partsOfImport(
  { created_by, scope, import_data: data }: Pick<UploadRow, "created_by" | "scope" | "import_data">,
  people: readonly NewParticipant[],
  durationMs: number,
): Pick<NewRecording, "sharedUserIds" | "privateNotes" | "highlights"> & {
  readonly values: Pick<
    NewRecording["values"],
    | "screenshares"
    | "ai_summary"
    | "ai_summary_points"
    | "ai_action_items"
    | "ai_template_sections"
    | "ai_chapters"
    | "chapters_by_hand"
  >;
} {
  if (data === null) return { values: {} };
  const { moved, notes } = data;
  const own = notes != null && scope === "personal" ? [{ user_id: created_by, text: notes }] : [];
  return {
    values: {
      screenshares: orNull(screensharesOf(data, people, durationMs)),
      ai_summary: moved?.ai_summary ?? null,
      ai_summary_points: moved?.ai_summary_points ?? null,
      ai_action_items: orNull(
        (moved?.ai_action_items ?? []).map(({ assignee, quote, due_date: due, ...item }) => ({
          ...{ id: randomUUID(), ...item },
          quote: quote ?? "",
          ...(due == null ? {} : { due_on: due }),
          assignee_id: people[assignee ?? -1]?.id ?? null,
        })),
      ),
      ai_template_sections: orNull(moved?.ai_template_sections ?? []),
      ai_chapters: orNull((moved?.ai_chapters ?? []).filter(({ start }) => start < durationMs)),
      chapters_by_hand: moved?.chapters_by_hand ?? false,
    },
    sharedUserIds: moved?.shared_user_ids ?? [],
    privateNotes: [...own, ...(moved?.private_notes ?? [])],
    highlights: [...highlightsOf(data, created_by, durationMs), ...(moved?.highlights ?? [])],
  };
}

function orNull(list: readonly object[]): readonly object[] | null {
  return list.length === 0 ? null : list;
}

/** A screenshare after the end of the file, or of a participant who is gone, was a mistake of the other system. */
function screensharesOf({ screenshares }: ImportData, people: readonly NewParticipant[], durationMs: number) {
  return screenshares.flatMap(({ start, end, participant }) => {
    const person = people[participant];
    if (person === undefined || start >= durationMs) return [];
    return [{ start, end: Math.min(end, durationMs), participant_id: person.id }];
  });
}

/** The highlights that came with an import are its creator's; those that begin after the end are left out. */
function highlightsOf(
  { highlights = [] }: ImportData,
  createdBy: string,
  durationMs: number,
): NewHighlight[] {
  return highlights
    .filter(({ start }) => start < durationMs)
    .map(({ text, start, duration, tags }) => ({
      text,
      start_ms: start,
      duration_ms: Math.min(duration, durationMs - start),
      tags,
      created_by: createdBy,
    }));
}

/** Notes which recording an import became, and removes what only the recording has to keep. */
export async function finishImport(tx: Tx, uploadId: string, recordingId: string): Promise<void> {
  await sql`update uploads set import_data = import_data - array['moved', 'notes']
    where id = ${uploadId} and import_data ?| array['moved', 'notes']`.execute(tx);
  await sql`update import_items set state = 'done', recording_id = ${recordingId}, updated_at = clock_timestamp()
    where upload_id = ${uploadId}`.execute(tx);
}
