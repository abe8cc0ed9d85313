import { sql } from "kysely";
import { foldCase } from "../../../../shared/fold-case.ts";
import { isMailAbout } from "../../../people/accounts/one-time-links/mailer.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Tx } from "../../../platform/db/database.ts";
import type { DataSubject } from "./data-subject.ts";
import { createNameMatch } from "./text-match.ts";

/**
 * Removes jobs that contain a person's email: password reset requests, requests for access and emails to or about them. A running job finds no account and ends.
 */
export async function eraseFromJobs(tx: Tx, encryptor: Encryptor, email: string): Promise<void> {
  await sql`
    delete from jobs
    where name = 'request_access' and data -> 'actor' ->> 'userEmail' = parley_lower(${email})`.execute(tx);
  await sql`
    delete from jobs
    where name = 'request_password_reset' and parley_lower(data ->> 'email') = parley_lower(${email})`.execute(
    tx,
  );
  const { rows } = await sql<{ key: string; encrypted: string }>`
    select key, data ->> 'encrypted' as encrypted from jobs where name = 'send_mail'`.execute(tx);
  const theirs = rows.filter(({ encrypted }) => isMailAbout(encryptor, encrypted, email));
  await sql`
    delete from jobs where name = 'send_mail' and key = any(${theirs.map(({ key }) => key)}::text[])`.execute(
    tx,
  );
}

/**
 * Removes a person's email from events of connections that are not imported yet, or have failed: what they bring is
 * imported without it.
 */
export async function eraseFromConnections(
  tx: Tx,
  encryptor: Encryptor,
  { workspaceId, email }: { readonly workspaceId: string; readonly email: string },
): Promise<void> {
  const { rows } = await sql<{ id: string; payload: Buffer }>`
    select e.id, e.payload from connection_events e join connections c on c.id = e.connection_id
    where c.workspace_id = ${workspaceId} and e.payload is not null order by e.id for update of e`.execute(
    tx,
  );
  for (const { id, payload } of rows) {
    const text = decryptIfPossible(encryptor, payload);
    if (text === null) {
      await endUnreadable(tx, id);
      continue;
    }
    const erased = JSON.stringify(JSON.parse(text), (_key, value) =>
      typeof value === "string" && foldCase(value) === foldCase(email) ? null : value,
    );
    if (erased !== text)
      await sql`update connection_events set payload = ${encryptor.encrypt(erased)} where id = ${id}`.execute(
        tx,
      );
  }
}

/** @returns null for what was encrypted with another PARLEY_SECRET. */
function decryptIfPossible(encryptor: Encryptor, encrypted: Buffer): string | null {
  try {
    return encryptor.decrypt(encrypted);
  } catch {
    return null;
  }
}

/** Removes the content of an event that can't be decrypted: it may be about the person, and can't be imported. */
async function endUnreadable(tx: Tx, eventId: string): Promise<void> {
  await sql`
    update connection_events set payload = null, updated_at = clock_timestamp(),
      state = case state when 'pending' then 'failed' else state end,
      reason = case state when 'pending' then 'PARLEY_SECRET has changed since the event arrived.' else reason end
    where id = ${eventId}`.execute(tx);
}

/** Files of watched folders that are read at a time. */
const fileBatch = 1000;

/**
 * Removes a person's email and names from what is known about files of watched folders that could not be imported: the
 * path that contains them, and the path in the reason. A file that is still to be imported keeps its path, which the
 * import needs. The files are the operator's.
 */
export async function eraseFromWatchedFiles(
  tx: Tx,
  { workspaceId, email, names }: Pick<DataSubject, "workspaceId" | "email" | "names">,
): Promise<void> {
  const isNamed = createNameMatch([email, ...names]);
  let after: Buffer = Buffer.alloc(0);
  for (;;) {
    const rows = await tx
      .selectFrom("watched_files")
      .select(["path_hash", "path", "error"])
      .where("workspace_id", "=", workspaceId)
      .where("state", "=", "failed")
      .where("path_hash", ">", after)
      .orderBy("path_hash")
      .limit(fileBatch)
      .execute();
    for (const row of rows) {
      const path = row.path !== null && isNamed(row.path) ? null : row.path;
      const rest = path === row.path ? row.error : (row.error?.replaceAll(row.path ?? "", "…") ?? null);
      const error = rest !== null && isNamed(rest) ? null : rest;
      if (path !== row.path || error !== row.error)
        await tx
          .updateTable("watched_files")
          .set({ path, error })
          .where("workspace_id", "=", workspaceId)
          .where("path_hash", "=", row.path_hash)
          .where("state", "=", "failed")
          .execute();
    }
    const last = rows.at(-1);
    if (rows.length < fileBatch || last === undefined) return;
    after = last.path_hash;
  }
}

/**
 * Removes a person from the events that were read from calendars of others, and the titles of entries that could not be
 * understood. The calendars are in other systems: what those still say is read again.
 */
export async function eraseFromCalendars(
  tx: Tx,
  { workspaceId, email, names }: Pick<DataSubject, "workspaceId" | "email" | "names">,
): Promise<void> {
  await sql`
    update calendar_events e set
      organizer = case when parley_lower(e.organizer ->> 'email') = parley_lower(${email}) then null else e.organizer end,
      attendees = coalesce((
        select jsonb_agg(a order by position) from jsonb_array_elements(e.attendees) with ordinality as l (a, position)
        where parley_lower(a ->> 'email') is distinct from parley_lower(${email})), '[]')
    from calendars c
    where c.id = e.calendar_id and c.workspace_id = ${workspaceId}
      and (parley_lower(e.organizer ->> 'email') = parley_lower(${email}) or exists (
        select 1 from jsonb_array_elements(e.attendees) a where parley_lower(a ->> 'email') = parley_lower(${email})))`.execute(
    tx,
  );
  const isNamed = createNameMatch([email, ...names]);
  await eraseNamesFromEvents(tx, workspaceId, isNamed);
  const calendars = await tx
    .selectFrom("calendars")
    .select(["id", "name", "host", "unread_examples"])
    .where("workspace_id", "=", workspaceId)
    .execute();
  for (const { id, name, host, unread_examples: examples } of calendars)
    if (isNamed(name) || examples.some(({ title }) => title !== null && isNamed(title)))
      await tx
        .updateTable("calendars")
        .set({
          name: isNamed(name) ? host : name,
          unread_examples: JSON.stringify(
            examples.map((one) => (one.title !== null && isNamed(one.title) ? { ...one, title: null } : one)),
          ),
        })
        .where("id", "=", id)
        .execute();
}

const eventBatch = 500;

/** Removes titles of events that name a person, and people of this name without an email. */
async function eraseNamesFromEvents(
  tx: Tx,
  workspaceId: string,
  isNamed: (text: string) => boolean,
): Promise<void> {
  const isMeant = ({ name, email }: { readonly name: string | null; readonly email: string | null }) =>
    email === null && name !== null && isNamed(name);
  let after = "00000000-0000-0000-0000-000000000000";
  for (;;) {
    const rows = await tx
      .selectFrom("calendar_events as e")
      .innerJoin("calendars as c", "c.id", "e.calendar_id")
      .select(["e.id", "e.title", "e.organizer", "e.attendees"])
      .where("c.workspace_id", "=", workspaceId)
      .where("e.id", ">", after)
      .orderBy("e.id")
      .limit(eventBatch)
      .execute();
    for (const { id, title, organizer, attendees } of rows) {
      const kept = {
        title: title !== null && isNamed(title) ? null : title,
        organizer: organizer !== null && isMeant(organizer) ? null : organizer,
        attendees: attendees.filter((one) => !isMeant(one)),
      };
      if (kept.title !== title || kept.organizer !== organizer || kept.attendees.length !== attendees.length)
        await tx
          .updateTable("calendar_events")
          .set({
            title: kept.title,
            organizer: kept.organizer === null ? null : JSON.stringify(kept.organizer),
            attendees: JSON.stringify(kept.attendees),
          })
          .where("id", "=", id)
          .execute();
    }
    const last = rows.at(-1);
    if (rows.length < eventBatch || last === undefined) return;
    after = last.id;
  }
}
