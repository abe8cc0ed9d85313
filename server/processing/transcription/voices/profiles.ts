import { randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import type { z } from "zod";
import { because } from "../../../../contract/causes/causes.ts";
import {
  maxVoiceProfiles,
  type rememberVoice as rememberOperation,
  type VoiceProfile,
} from "../../../../contract/transcripts/voice-profiles.ts";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Database, Executor, Tx } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { defineRecurringJob } from "../../../platform/jobs/define.ts";
import { checkRight, lockFor } from "../../../recordings/recordings/rights.ts";
import type { SpeakerVoice } from "./speaker-voices.ts";

type Profile = z.output<typeof VoiceProfile>;

/** Voices with a lower cosine are not suggested. A guess: it could not be measured with real models. */
const minCosine = 0.6;

interface ProfileRow {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly model: string;
  readonly embedding: number[];
  readonly user_id: string | null;
  readonly user_name: string | null;
  readonly consented_at: Date;
}

/** The workspace's profiles by name, or one of them. */
async function findRows(db: Executor, workspaceId: string, id: string | null = null): Promise<ProfileRow[]> {
  const { rows } = await sql<ProfileRow>`
    select p.id, p.name, p.email, p.model, p.embedding, u.id as user_id, u.name as user_name, p.consented_at
    from voice_profiles p left join users u on u.id = p.consented_by
    where p.workspace_id = ${workspaceId} and (${id}::uuid is null or p.id = ${id}::uuid)
    order by parley_lower(p.name), p.id`.execute(db);
  return rows;
}

function present({ id, name, email, model, ...row }: ProfileRow): Profile {
  const by = row.user_id === null ? null : { id: row.user_id, name: row.user_name ?? "" };
  return { id, name, email, model, consent: { confirmed_by: by, datetime: row.consented_at.toISOString() } };
}

export async function listProfiles(db: Executor, workspaceId: string): Promise<Profile[]> {
  return (await findRows(db, workspaceId)).map(present);
}

/** A profile with everything that is stored about the voice. */
export function exportProfile(
  db: Database,
  actor: AuditActor,
  id: string,
): Promise<Profile & { embedding: number[] }> {
  return db.kysely.transaction().execute(async (tx) => {
    const [row] = await findRows(tx, actor.workspaceId, id);
    if (row === undefined) throw profileNotFound(id);
    await recordAudit(tx, actor, {
      action: "voice_profile_exported",
      subject: { type: "voice_profile", id },
      details: {},
    });
    return { ...present(row), embedding: row.embedding };
  });
}

export function deleteProfile(db: Database, actor: AuditActor, id: string): Promise<{ success: true }> {
  return db.kysely.transaction().execute(async (tx) => {
    const { rows } = await sql`
      delete from voice_profiles where id = ${id} and workspace_id = ${actor.workspaceId}
      returning id`.execute(tx);
    if (rows.length === 0) throw profileNotFound(id);
    await recordAudit(tx, actor, {
      action: "voice_profile_deleted",
      subject: { type: "voice_profile", id },
      details: {},
    });
    return { success: true };
  });
}

function profileNotFound(id: string): ProblemError {
  return new ProblemError("not_found", `there is no voice profile ${id} in this workspace`);
}

/** Keeps the voices of a recording's speakers until they are named, if the workspace has profiles turned on. */
export async function saveRecordingVoices(
  tx: Tx,
  recordingId: string,
  model: string | null,
  voices: readonly SpeakerVoice[],
): Promise<void> {
  await sql`delete from recording_voices where recording_id = ${recordingId}`.execute(tx);
  if (model === null || voices.length === 0) return;
  await sql`
    insert into recording_voices (recording_id, speaker, embedding, ms, model)
    select r.id, v.speaker, v.embedding, v.ms, ${model}
    from jsonb_to_recordset(${JSON.stringify(voices)}::jsonb) as v (speaker text, embedding real[], ms integer)
    join recordings r on r.id = ${recordingId}
    join workspaces w on w.id = r.workspace_id and w.voice_profiles`.execute(tx);
}

/**
 * The voices that can be remembered, each with the profile that sounds most like it, if any does.
 * @throws ProblemError as `checkRight`.
 */
export async function findRecordingVoices(db: Executor, principal: Principal, recordingId: string) {
  const { workspaceId } = principal;
  await checkRight(db, principal, recordingId, "change", "list its voices");
  const { rows } = await sql<{ speaker: string; embedding: number[]; model: string }>`
    select v.speaker, v.embedding, v.model
    from recording_voices v join recordings r on r.id = v.recording_id join workspaces w on w.id = r.workspace_id
    where v.recording_id = ${recordingId} and w.id = ${workspaceId} and w.voice_profiles
    order by v.speaker limit 50`.execute(db);
  const profiles = rows.length === 0 ? [] : await findRows(db, workspaceId);
  const suggested = new Map<string, ProfileRow>();
  const taken = new Set<ProfileRow>();
  // A person is one speaker of a recording, so each profile is suggested for the voice most like it alone.
  for (const { speaker, profile } of comparePairs(rows, profiles)) {
    if (suggested.has(speaker) || taken.has(profile)) continue;
    suggested.set(speaker, profile);
    taken.add(profile);
  }
  return rows.map(({ speaker }) => {
    const profile = suggested.get(speaker);
    return { speaker, sounds_like: profile ? { profile_id: profile.id, name: profile.name } : null };
  });
}

/** Voices and profiles that are alike, the most similar first. */
function comparePairs(
  voices: readonly { readonly speaker: string; readonly embedding: number[]; readonly model: string }[],
  profiles: readonly ProfileRow[],
) {
  const pairs: { readonly speaker: string; readonly profile: ProfileRow; readonly cosine: number }[] = [];
  for (const { speaker, embedding, model } of voices)
    for (const profile of profiles) {
      if (profile.model !== model) continue;
      const cosine = cosineOf(embedding, profile.embedding);
      if (cosine >= minCosine) pairs.push({ speaker, profile, cosine });
    }
  return pairs.toSorted((x, y) => y.cosine - x.cosine);
}

/** The cosine of two unit vectors, as `findSpeakerVoices` returns them. A plain loop: it runs up to 50,000 times. */
function cosineOf(a: readonly number[], b: readonly number[]): number {
  let dot = 0;
  for (let i = 0; i < a.length; i++) dot += (a[i] ?? 0) * (b[i] ?? 0);
  return dot;
}

/**
 * Creates a profile from the voice of a recording's speaker. The recording's copy of the voice is deleted.
 * @throws ProblemError `wrong_state` when profiles are turned off, the voice is unknown or the limit is reached.
 */
export function rememberVoice(
  db: Database,
  principal: Principal,
  actor: AuditActor,
  recordingId: string,
  input: z.output<(typeof rememberOperation)["body"]>,
): Promise<Profile> {
  const { workspaceId } = principal;
  return db.kysely.transaction().execute(async (tx) => {
    await lockFor(tx, principal, recordingId, "change", "have its voices remembered");
    const { rows: settings } = await sql<{ voice_profiles: boolean; profiles: number }>`
      select voice_profiles, (select count(*)::integer from voice_profiles where workspace_id = w.id) as profiles
      from workspaces w where id = ${workspaceId} for update`.execute(tx);
    if (settings[0]?.voice_profiles !== true)
      throw new ProblemError("wrong_state", because("voice_profiles_off"));
    if (settings[0].profiles >= maxVoiceProfiles)
      throw new ProblemError("wrong_state", because("voice_profile_limit", { limit: maxVoiceProfiles }));
    const id = randomUUIDv7();
    const { rows } = await sql<{ model: string }>`
      with voice as (delete from recording_voices
        where recording_id = ${recordingId} and speaker = ${input.speaker} returning embedding, model)
      insert into voice_profiles (id, workspace_id, name, email, embedding, model, consented_by)
      select ${id}, ${workspaceId}, ${input.name}, ${input.email ?? null}, embedding, model, ${principal.userId}
      from voice returning model`.execute(tx);
    const [created] = rows;
    if (created === undefined)
      throw new ProblemError("wrong_state", because("voice_unknown", { speaker: input.speaker }));
    await recordAudit(tx, actor, {
      action: "voice_profile_created",
      subject: { type: "voice_profile", id },
      details: { recording_id: recordingId, model: created.model, consent: true },
    });
    const [profile] = await findRows(tx, workspaceId, id);
    if (profile === undefined) throw new Error("a profile that was just created is missing");
    return present(profile);
  });
}

/** How long voices of unnamed speakers are kept. */
const keptDays = 30;

/** Deletes voices that nobody remembered in time, and those of workspaces that have turned profiles off. */
export async function deleteOldVoices(db: Executor): Promise<void> {
  await sql`
    delete from recording_voices v using recordings r, workspaces w
    where r.id = v.recording_id and w.id = r.workspace_id
      and (not w.voice_profiles or v.created_at < now() - ${keptDays} * interval '1 day')`.execute(db);
}

export const deleteOldVoicesKind = defineRecurringJob({
  name: "delete_old_voices",
  label: (i18n) => i18n.t("Delete old voices"),
  every: "1 h",
  guard: "age",
  handler: ({ db }) => deleteOldVoices(db.kysely),
});
