import { randomUUID } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import type { Executor, Tx } from "../db/database.ts";
import {
  findUploadsById,
  findUploadTranscripts,
  saveUploadTranscript,
  type UploadParticipant,
} from "../uploads/queries.ts";
import { recordUploadUpdated } from "../uploads/transition.ts";
import { erasedName, erasedWords, type Person } from "./person.ts";
import { renewDeliveries } from "./renew-deliveries.ts";

/**
 * Takes a person out of uploads that are no recording, and may still become one: out of their participants, and what
 * they say out of the supplied transcript.
 * @returns how many changed.
 */
export async function eraseFromUnfinished(tx: Tx, { workspaceId, email }: Person): Promise<number> {
  const ids = await unfinishedWith(tx, workspaceId, email, sql`for update`);
  const uploads = await findUploadsById(tx, ids);
  const transcripts = await findUploadTranscripts(tx, ids);
  for (const upload of uploads.values()) {
    const theirKeys = new Map<string, string>();
    const participants = upload.participants.map((person): UploadParticipant => {
      if (!isPerson(person, email)) return person;
      // Keys may be names or addresses themselves.
      const { speaker_key: before } = person;
      if (before === null) return withoutIdentity(person);
      const key = theirKeys.get(before) ?? `erased-${randomUUID()}`;
      theirKeys.set(before, key);
      return { ...withoutIdentity(person), speaker_key: key };
    });
    const transcript = transcripts.get(upload.id);
    if (transcript !== undefined && theirKeys.size > 0) {
      const segments = transcript.segments.map((segment) => {
        const key = theirKeys.get(segment.speaker_key);
        return key === undefined ? segment : { ...segment, speaker_key: key, text: erasedWords };
      });
      await saveUploadTranscript(tx, upload.id, { ...transcript, segments });
    }
    await writeParticipants(tx, upload.id, participants);
    await renewDeliveries(tx, [], [upload.id]);
    const changed = (await findUploadsById(tx, [upload.id])).get(upload.id);
    if (changed !== undefined) await recordUploadUpdated(tx, changed);
  }
  return uploads.size;
}

/** Uploads that are no recording and name a person, in the order of their ids. */
export async function unfinishedWith(
  db: Executor,
  workspaceId: string,
  email: string,
  lock: RawBuilder<unknown> = sql``,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from uploads
    where workspace_id = ${workspaceId} and recording_id is null
      and exists (select 1 from jsonb_array_elements(participants) p where lower(p ->> 'email') = lower(${email}))
    order by id ${lock}`.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * Takes a person out of the uploads that a recording came from. Their transcript goes as a whole: who said what in it
 * may have been found out since, and nothing reads it any more.
 * @param names what the person is called in the recording.
 * @returns the ids of all of them.
 */
export async function eraseFromFinished(
  tx: Tx,
  recordingId: string,
  email: string,
  names: ReadonlySet<string>,
): Promise<string[]> {
  const { rows } = await sql<{ id: string; participants: UploadParticipant[] }>`
    select id, participants from uploads where recording_id = ${recordingId} order by id for update`.execute(
    tx,
  );
  for (const { id, participants } of rows) {
    await tx.deleteFrom("upload_transcripts").where("upload_id", "=", id).execute();
    const isTheirs = (person: UploadParticipant): boolean =>
      isPerson(person, email) || (person.email === null && names.has(nameKey(person.name ?? "")));
    await writeParticipants(
      tx,
      id,
      participants.map((person) =>
        isTheirs(person) ? { ...withoutIdentity(person), speaker_key: null } : person,
      ),
    );
  }
  return rows.map(({ id }) => id);
}

/** How names are compared. */
export function nameKey(name: string): string {
  return name.normalize("NFKC").trim().toLowerCase();
}

function isPerson({ email }: UploadParticipant, wanted: string): boolean {
  return email?.toLowerCase() === wanted.toLowerCase();
}

function withoutIdentity(person: UploadParticipant): UploadParticipant {
  const { extra } = person;
  return {
    ...person,
    name: erasedName,
    email: null,
    phone: null,
    ...(extra === undefined ? {} : { extra: { ...extra, crm_contact_id: null } }),
  };
}

async function writeParticipants(tx: Tx, uploadId: string, participants: UploadParticipant[]): Promise<void> {
  await sql`
    update uploads set participants = ${JSON.stringify(participants)}::jsonb, updated_at = clock_timestamp()
    where id = ${uploadId}`.execute(tx);
}
