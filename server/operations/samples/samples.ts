import { readFile } from "node:fs/promises";
import { sql } from "kysely";
import type { z } from "zod";
import type { Point } from "../../../contract/recordings/points.ts";
import { ImportInput } from "../../../contract/uploads/imports.ts";
import type { getSampleRecordings } from "../../../contract/uploads/samples.ts";
import { importRecording } from "../../connections/imports/service.ts";
import { samplePrefix } from "../../connections/imports/violations.ts";
import type { AuditActor } from "../../platform/audit/record.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { uploadFileKey } from "../../platform/storage/layout.ts";
import { ObjectExistsError, type ObjectStore } from "../../platform/storage/store.ts";
import type { UploadQuotas } from "../../processing/uploads/quotas.ts";
import { checkForFile, takeFile } from "../../processing/uploads/transfer/arrival.ts";
import { deletePermanently } from "../../recordings/trash/delete.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly config: UploadQuotas & Pick<Config, "s3" | "uploadUrlTtlMs" | "maxDurationMs" | "maxUploadBytes">;
}

type State = z.output<(typeof getSampleRecordings)["response"]>;

/** The samples by the names of their files in `assets/`, newest first. `scripts/make-samples.ts` writes them. */
const names = ["planning", "demo", "call"] as const;

const assets = new URL("./assets/", import.meta.url);
const dayMs = 86_400_000;

/** Makes loading idempotent, and tells sample recordings from others. */
const externalIdOf = (name: string): string => `${samplePrefix}${name}`;
const externalIds = names.map(externalIdOf);

/** What a sample's JSON file has besides attributes of an import. */
interface Sample extends Record<string, unknown> {
  readonly format: "mp3" | "mp4";
  readonly language: string;
  readonly segments: readonly object[];
  readonly summary: string | null;
  readonly summary_points: readonly Point[] | null;
}

/**
 * How many sample recordings the workspace has. A sample whose file has not arrived is not pending: loading was interrupted,
 * and loading again continues.
 */
export async function findSamples(db: Database, workspaceId: string): Promise<State> {
  const uploads = await findUploads(db, workspaceId);
  const loaded = uploads.filter(({ recording_id }) => recording_id !== null).length;
  const unsent = uploads.filter(({ status }) => status === "awaiting").length;
  return { total: names.length, loaded, pending: uploads.length - loaded - unsent };
}

function findUploads(db: Database, workspaceId: string) {
  return (
    db.kysely
      .selectFrom("uploads")
      .select(["id", "recording_id", "status"])
      .where("workspace_id", "=", workspaceId)
      // As they are loaded; a member's own import is never a sample.
      .where("scope", "=", "workspace")
      .where("external_id", "in", externalIds)
      .where("status", "<>", "failure")
      .execute()
  );
}

/**
 * Imports the samples that the workspace doesn't have. Interrupted, the next call continues.
 * @throws ProblemError `wrong_state` when the workspace's storage is full.
 */
export async function loadSamples(deps: Dependencies, principal: Principal): Promise<State> {
  for (const [index, name] of names.entries()) await loadSample(deps, principal, name, index + 1);
  return findSamples(deps.db, principal.workspaceId);
}

async function loadSample(
  deps: Dependencies,
  principal: Principal,
  name: string,
  daysAgo: number,
): Promise<void> {
  const { format, language, segments, summary, summary_points, ...attributes }: Sample = JSON.parse(
    await readFile(new URL(`${name}.json`, assets), "utf8"),
  );
  const input = ImportInput.parse({
    ...attributes,
    external_id: externalIdOf(name),
    start_datetime: new Date(Date.now() - daysAgo * dayMs).toISOString(),
    transcript: { language, segments },
    media: { format },
  });
  const data = {
    meeting_type_id: null,
    meeting_type_by_hand: false,
    ai_summary: summary,
    ai_summary_points: summary_points,
    ai_action_items: [],
    ai_template_sections: [],
    highlights: [],
    shared_user_ids: [],
    private_notes: [],
    speakers: {},
    word_times: null,
  };
  // As a workspace token would, so that two admins don't both load it.
  const owner = { ...principal, scope: "workspace" as const };
  const { row } = await importRecording(deps, owner, input, { data, participants: [] });
  if (row.status !== "awaiting") return;
  const media = await readFile(new URL(`${name}.${format}`, assets));
  const contentType = format === "mp3" ? "audio/mpeg" : "video/mp4";
  try {
    const file = await deps.store.put(uploadFileKey(row.id), media, { contentType, ifAbsent: true });
    await takeFile(deps, row.id, file);
  } catch (error) {
    if (!(error instanceof ObjectExistsError)) throw error;
    // Another request has stored it, or an earlier one, which was interrupted.
    await checkForFile(deps, row.id);
  }
}

/** Deletes the sample recordings. @throws ProblemError `wrong_state` for one on legal hold. */
export async function removeSamples(
  deps: Dependencies & { readonly onError: (error: unknown) => void },
  principal: Principal,
  actor: AuditActor,
): Promise<State> {
  // Admins may remove samples that another admin has loaded and that they can't see.
  const owner = { ...principal, scope: "workspace" as const, sees: [principal.workspaceId] };
  for (const { recording_id } of await findUploads(deps.db, principal.workspaceId))
    if (recording_id !== null && (await isThere(deps.db, recording_id)))
      await deletePermanently(deps, owner, recording_id, actor);
  return findSamples(deps.db, principal.workspaceId);
}

async function isThere(db: Database, recordingId: string): Promise<boolean> {
  const { rows } = await sql`select 1 from recordings where id = ${recordingId}`.execute(db.kysely);
  return rows.length > 0;
}
