import { randomUUIDv7 } from "node:crypto";
import { foldCase, foldName } from "../../../../shared/fold-case.ts";
import { createTeam } from "../../../people/accounts/teams/teams.ts";
import { createMeetingType } from "../../../people/directory/meeting-types.ts";
import { findMeetingTypes, findTeams, findUsers } from "../../../people/directory/queries.ts";
import type { AuditActor } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Database } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";

/** The users, teams and meeting types that imported recordings refer to. */
export interface Directory {
  /** The active user with this email; null: there is none. */
  userId(email: string): string | null;
  /** The team of this name, created if it is missing; null: it can't be. */
  teamId(name: string): Promise<string | null>;
  /** The meeting type of this name, created if it is missing; null: it can't be. */
  meetingTypeId(name: string, scope: "internal" | "external"): Promise<string | null>;
}

/**
 * Reads the directory of the principal's workspace once, for one import.
 * @param creates false: what is missing is not created, and has an id that nothing has.
 */
export async function openDirectory(
  db: Database,
  principal: Principal,
  actor: AuditActor,
  { creates = true }: { readonly creates?: boolean } = {},
): Promise<Directory> {
  const { workspaceId } = principal;
  const users = new Map(
    (await findUsers(db.kysely, workspaceId)).map(({ id, email }) => [foldCase(email), id]),
  );
  const teams = once<string, string | null>(async (name) => {
    const find = async () =>
      (await findTeams(db.kysely, workspaceId)).find((team) => foldName(team.name) === foldName(name))?.id ??
      null;
    const found = await find();
    if (found !== null || !creates) return found ?? randomUUIDv7();
    return orNull(
      db.kysely
        .transaction()
        .execute((tx) => createTeam(tx, actor, { name: name.slice(0, 200), memberIds: [] })),
      find,
    );
  });
  const types = once<string, string | null>(async (key) => {
    const [scope, name] = JSON.parse(key) as ["internal" | "external", string];
    const find = async () =>
      (await findMeetingTypes(db.kysely, workspaceId)).find((type) => foldName(type.name) === foldName(name))
        ?.id ?? null;
    const create = createMeetingType.bind(null, db, principal, { name: name.slice(0, 200), scope });
    const found = await find();
    if (found !== null || !creates) return found ?? randomUUIDv7();
    return orNull(
      create().then(({ id }) => id),
      find,
    );
  });
  return {
    userId: (email) => users.get(foldCase(email.trim())) ?? null,
    teamId: teams,
    meetingTypeId: (name, scope) => types(JSON.stringify([scope, name])),
  };
}

/** Another process may have created it at the same time; a limit leaves it out. */
async function orNull(created: Promise<string>, find: () => Promise<string | null>): Promise<string | null> {
  try {
    return await created;
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return find();
  }
}

function once<K, V>(look: (key: K) => Promise<V>): (key: K) => Promise<V> {
  const known = new Map<K, Promise<V>>();
  return (key) => {
    const found = known.get(key) ?? look(key);
    known.set(key, found);
    // A failed lookup is repeated.
    found.catch(() => known.delete(key));
    return found;
  };
}
