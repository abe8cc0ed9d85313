import { sql } from "kysely";
import type { z } from "zod";
import { sentenceOf, sentences } from "../../../contract/sentences.ts";
import type { System } from "../../../contract/system.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import type { BackupState } from "../backup/schedule.ts";
import type { ComponentHealth } from "./health/read-health.ts";

type Step = NonNullable<z.input<typeof System>["checklist"]>[number];

interface Known {
  readonly components: readonly ComponentHealth[];
  readonly backups: Pick<BackupState, "lastSucceeded" | "lastVerified">;
}

/** What the operator of a new installation sets up; null once an admin dismissed the list. */
export async function readChecklist(
  db: Pick<Database, "kysely">,
  { signInProviders }: Config,
  { components, backups }: Known,
): Promise<Step[] | null> {
  const admins = await countAdmins(db);
  if (admins === null) return null;
  const stepOf = (step: Step["step"] & ComponentHealth["component"], missing: string): Step => {
    const found = components.find(({ component }) => component === step);
    const isOff = found === undefined || found.state === "off";
    const explanation = isOff ? missing : found.explanation;
    return { step, done: !isOff, failing: found?.state === "failing", explanation };
  };
  return [
    stepOf("mail", sentences.checklist_mail),
    withVerification(stepOf("backups", sentences.checklist_backups), backups),
    stepOf("speech", sentences.checklist_speech),
    stepOf("language_model", sentences.checklist_language_model),
    {
      step: "sign_in",
      done: signInProviders.length > 0,
      failing: false,
      explanation:
        signInProviders.length === 0
          ? sentences.checklist_sign_in_off
          : sentenceOf("checklist_sign_in", {
              hosts: signInProviders.map(({ issuer }) => new URL(issuer).host).join(", "),
            }),
    },
    {
      step: "second_admin",
      done: admins > 1,
      failing: false,
      explanation:
        admins > 1 ? sentenceOf("checklist_admins", { count: admins }) : sentences.checklist_one_admin,
    },
  ];
}

/** A backup that was never verified is not known to be one. */
function withVerification(step: Step, { lastSucceeded, lastVerified }: Known["backups"]): Step {
  if (!step.done || lastVerified !== null) return step;
  if (step.failing) return { ...step, done: false };
  const explanation =
    lastSucceeded === null ? sentences.checklist_backups_first : sentences.checklist_backups_unverified;
  return { ...step, done: false, explanation };
}

/** Active admins of the operator's workspace; null: the checklist was dismissed. */
async function countAdmins({ kysely }: Pick<Database, "kysely">): Promise<number | null> {
  const row = await kysely
    .selectFrom("installation as i")
    .where("i.checklist_dismissed_at", "is", null)
    .select((of) =>
      of
        .selectFrom("users as u")
        .whereRef("u.workspace_id", "=", "i.operator_workspace_id")
        .where("u.role", "=", "admin")
        .where("u.deactivated_at", "is", null)
        .where("u.invited_at", "is", null)
        .select((users) => users.fn.countAll<string>().as("count"))
        .as("count"),
    )
    .executeTakeFirst();
  return row === undefined ? null : Number(row.count);
}

/** Hides it for all admins. */
export async function dismissChecklist({ kysely }: Pick<Database, "kysely">): Promise<void> {
  await kysely
    .updateTable("installation")
    .set({ checklist_dismissed_at: sql<Date>`now()` })
    .where("checklist_dismissed_at", "is", null)
    .execute();
}
