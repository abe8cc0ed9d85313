import { sql } from "kysely";
import type { z } from "zod";
import { because } from "../../../../contract/causes/causes.ts";
import type { previewErasure as operation } from "../../../../contract/governance/erasures.ts";
import { lockAccount } from "../../../people/accounts/users/queries.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Database, Executor, Tx } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import type { Match } from "../matching.ts";
import { requireAdminBesides } from "./erase-account.ts";
import { unfinishedWith } from "./erase-uploads.ts";
import { isOwnData } from "./erasures.ts";

/** How many recordings a preview names. */
const maxNamed = 100;

/** What erasing a person's data would affect now, and whether it would be refused. Changes nothing. */
export function previewErasure(
  db: Database,
  principal: Principal,
  email: string,
): Promise<z.output<(typeof operation)["response"]>> {
  const { workspaceId } = principal;
  return db.kysely.transaction().execute(async (tx) => {
    const account = await findAccount(tx, workspaceId, email);
    const { recordings, held } = await countRecordings(tx, workspaceId, email);
    const newest = await findNewest(tx, workspaceId, email);
    const refusal = isOwnData(principal, email) ? because("own_data") : await whyKept(tx, account);
    return {
      account: account === undefined ? null : { id: account.id, name: account.name, role: account.role },
      recordings,
      held,
      uploads: (await unfinishedWith(tx, workspaceId, email)).length,
      newest: newest.map(({ id, title, start_datetime }) => ({
        id,
        title,
        start_datetime: start_datetime.toISOString(),
      })),
      refused: refusal?.detail ?? null,
      refused_cause: refusal?.cause ?? null,
    };
  });
}

type Refusal = Pick<ProblemError, "cause"> & { readonly detail: string };

/** Why the account can't be erased; null when it can. */
async function whyKept(tx: Tx, account: Awaited<ReturnType<typeof findAccount>>): Promise<Refusal | null> {
  if (account === undefined) return null;
  try {
    await requireAdminBesides(tx, account);
    return null;
  } catch (error) {
    if (error instanceof ProblemError) return { detail: error.message, cause: error.cause };
    throw error;
  }
}

async function findAccount(tx: Tx, workspaceId: string, email: string) {
  const found = await tx
    .selectFrom("users")
    .select("id")
    .where("workspace_id", "=", workspaceId)
    .where("email_key", "=", sql<string>`parley_lower(${email})`)
    .executeTakeFirst();
  return found === undefined ? undefined : lockAccount(tx, workspaceId, found.id);
}

async function countRecordings(
  db: Executor,
  workspaceId: string,
  email: string,
): Promise<{ readonly recordings: number; readonly held: number }> {
  const { rows } = await sql<{ recordings: number; held: number }>`
    select count(distinct p.recording_id)::integer as recordings,
      count(distinct h.recording_id)::integer as held
    from participants p left join legal_holds h on h.recording_id = p.recording_id
    where p.workspace_id = ${workspaceId} and p.email_key = parley_lower(${email})`.execute(db);
  return rows[0] ?? { recordings: 0, held: 0 };
}

async function findNewest(db: Executor, workspaceId: string, email: string): Promise<Match[]> {
  const { rows } = await sql<Match>`
    select r.id, r.title, r.start_datetime from recordings r
    where r.id in (
        select p.recording_id from participants p
        where p.workspace_id = ${workspaceId} and p.email_key = parley_lower(${email}))
      and not exists (select 1 from legal_holds h where h.recording_id = r.id)
    order by r.start_datetime desc, r.id limit ${maxNamed}`.execute(db);
  return rows;
}
