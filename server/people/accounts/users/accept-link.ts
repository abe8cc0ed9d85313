import { recordAudit } from "../../../platform/audit/record.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { transactWithRetry } from "../../../platform/db/retry.ts";
import {
  consumeLink,
  deleteLinks,
  type LinkOwner,
  type LinkPurpose,
} from "../one-time-links/one-time-links.ts";
import type { SignInOrigin } from "../sign-in/devices.ts";
import { endSessions } from "../sign-in/sessions.ts";
import { actorFor, beginSignIn, type SignInResult } from "../sign-in/sign-in.ts";
import { recordRefusal } from "../sign-in/sign-in-rules.ts";
import { isOutsideItsDomain } from "../workspaces/email-domains.ts";
import { endTokens } from "./end-access.ts";
import { proveEmail } from "./prove-email.ts";

/**
 * Uses a link up: sets the password and signs the user in, or, where the account has a second factor, up to its code. All
 * other sessions end.
 * @throws RefusedSignIn, which leaves the link as it was.
 * @returns the sign-in; null when the link was used, replaced or expired in the meantime.
 */
export async function acceptLink(
  db: Database,
  input: {
    readonly purpose: LinkPurpose;
    readonly token: string;
    readonly owner: LinkOwner;
    readonly passwordHash: string;
    /** For an invitation. */
    readonly name?: string;
    /** Whether all tokens and app access of the user end too. */
    readonly endsTokens?: boolean;
    readonly from: SignInOrigin;
  },
): Promise<Extract<SignInResult, { outcome: "signed_in" | "code_required" }> | null> {
  const { purpose, token, owner, from } = input;
  const { ip, userAgent } = from;
  const accept = async (tx: Tx) => {
    // Locked in the same order as a deactivation does (account, then link), to avoid deadlocks.
    const active = await tx
      .selectFrom("users")
      .select("id")
      .where("id", "=", owner.id)
      .where("deactivated_at", "is", null)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (active === undefined) return null;
    // A claim ends invitations to other workspaces.
    if (purpose === "invitation" && (await isOutsideItsDomain(tx, owner))) return null;
    const link = await consumeLink(tx, purpose, token);
    if (link?.userId !== owner.id) return null;
    if (link.isMailed) await proveEmail(tx, owner, "mail", from);
    await tx
      .updateTable("users")
      .set({
        password_hash: input.passwordHash,
        invited_at: null,
        ...(input.name === undefined ? {} : { name: input.name }),
      })
      .where("id", "=", owner.id)
      .execute();
    // A pending reset link could change the password again.
    if (purpose === "invitation") await deleteLinks(tx, owner.id, "password_reset");
    const tokens = input.endsTokens ? await endTokens(tx, owner.id) : 0;
    await endSessions(tx, owner.id);
    await recordAudit(
      tx,
      { ...actorFor(owner), ip, userAgent, credential: null, credentialId: null },
      {
        action: purpose === "invitation" ? "invitation_accepted" : "password_changed",
        subject: { type: "user", id: owner.id },
        details: { by: purpose, ...(tokens > 0 ? { revoked_tokens: tokens } : {}) },
      },
    );
    return beginSignIn(tx, { ...owner, password_hash: input.passwordHash }, "link", from);
  };
  return recordRefusal(db, from, () => transactWithRetry(db, accept));
}
