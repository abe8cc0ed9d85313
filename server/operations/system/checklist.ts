import { sql } from "kysely";
import type { z } from "zod";
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
    stepOf("mail", "Invitations and notices can't be sent; their links are shown to you instead."),
    withVerification(
      stepOf("backups", "No backups are scheduled yet. Choose a folder or a bucket for them."),
      backups,
    ),
    stepOf(
      "speech",
      "New recordings aren't transcribed yet. Download a speech model, or connect a speech server.",
    ),
    stepOf(
      "language_model",
      "Optional: writes summaries, action items and titles. Download a model, or connect a server.",
    ),
    {
      step: "sign_in",
      done: signInProviders.length > 0,
      failing: false,
      explanation:
        signInProviders.length === 0
          ? "Optional: users sign in with a password. Connect a provider for single sign-on."
          : `Users can sign in through ${signInProviders.map(({ issuer }) => new URL(issuer).host).join(", ")}.`,
    },
    {
      step: "second_admin",
      done: admins > 1,
      failing: false,
      explanation:
        admins > 1
          ? `${admins} admins manage this server.`
          : "You are the only admin. A second one can help when you can't sign in.",
    },
  ];
}

/** A backup that was never verified is not known to be one. */
function withVerification(step: Step, { lastSucceeded, lastVerified }: Known["backups"]): Step {
  if (!step.done || lastVerified !== null) return step;
  if (step.failing) return { ...step, done: false };
  const explanation =
    lastSucceeded === null
      ? "Backups are scheduled. The first starts within a few minutes, and is verified afterwards."
      : "No backup has been verified yet. The next scheduled one is.";
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
