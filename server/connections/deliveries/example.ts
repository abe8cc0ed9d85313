import type { Conditions } from "../../../contract/deliveries/deliveries.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import { findModelState } from "../../processing/intelligence/missing-model.ts";
import { inWork } from "../../recordings/recordings/announce.ts";
import { canReceive } from "../webhooks/deliveries/can-receive.ts";
import { type Reader, readContent, sampleRecording, type Written } from "./content.ts";
import { hasContent, isImported, isPresent, meetsConditions } from "./matching.ts";
import { type KnownReader, readerOf } from "./message-reader.ts";

/** A recording that a delivery would send. */
export interface Candidate {
  readonly id: string;
  readonly title: string;
}

/** What a preview or a test shows, written for its reader. */
export interface Example extends Written {
  /** Null: a sample. */
  readonly shown: Candidate | null;
  readonly reader: Reader;
}

interface Dependencies {
  readonly db: Database;
  readonly config: Pick<Config, "baseUrl" | "languageModel" | "dataDir">;
}

/** Recordings that a preview offers. */
const maxCandidates = 20;

/**
 * The newest recordings that a delivery with these conditions would send, of those that the caller can see: with a summary,
 * or with a transcript where there is no language model.
 * @param hookId of a delivery, whose owner must see them too; null: the caller would be the owner.
 */
export async function findCandidates(
  { db, config }: Dependencies,
  { workspaceId, sees }: Pick<Principal, "workspaceId" | "sees">,
  conditions: Conditions,
  hookId: string | null = null,
): Promise<Candidate[]> {
  const isSummarized = await writesSummaries({ db, config }, workspaceId);
  const { rows } = await db.pool.query<Candidate>(
    `select r.id, r.title
     from recordings r
       join workspaces w on w.id = r.workspace_id
       cross join (select $3::jsonb as conditions) t
       cross join lateral (select null::uuid[] as audience, r.id as recording_id) e
       left join hooks h on h.id = $4::uuid
     where r.workspace_id = $1
       and exists (select 1 from recording_grants g where g.recording_id = r.id and g.principal_id = any($2::uuid[]))
       and ($4::uuid is null or ${canReceive("e")})
       and ${isPresent} and not ${isImported} and not ${inWork} and ${meetsConditions}
       and case when $5 then coalesce(r.ai_summary, '') <> '' else ${hasContent} end
     order by r.start_datetime desc, r.id desc limit ${maxCandidates}`,
    [workspaceId, sees, JSON.stringify(conditions), hookId, isSummarized],
  );
  return rows;
}

async function writesSummaries({ db, config }: Dependencies, workspaceId: string): Promise<boolean> {
  return (await findModelState(db.kysely, config, workspaceId)) === "ready";
}

/**
 * Reads what a delivery would send of a recording; without one, or if it was just deleted, a sample in the form that is sent
 * here.
 */
export async function readExample(
  deps: Dependencies,
  workspaceId: string,
  recordingId: string | undefined,
  known?: KnownReader,
): Promise<Example> {
  const { db, config } = deps;
  const parts =
    recordingId === undefined
      ? undefined
      : await readContent(db, config.baseUrl, { workspaceId, recordingId });
  const recording = parts?.recording ?? null;
  const reader = await readerOf(db.kysely, { workspaceId, recording }, known);
  if (parts !== undefined && recording !== null)
    return { ...parts, shown: { id: recording.id, title: recording.title }, reader };
  const hasSummary = await writesSummaries(deps, workspaceId);
  return { ...sampleRecording(reader.i18n, config.baseUrl, hasSummary), shown: null, reader };
}
