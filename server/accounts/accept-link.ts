import { recordAudit } from "../audit/record.ts";
import type { Database } from "../db/database.ts";
import { consumeLink, deleteLinks, type LinkOwner, type LinkPurpose } from "./one-time-links.ts";
import { endSessions } from "./sessions.ts";
import { actorFor, beginSession } from "./sign-in.ts";

/**
 * Uses a link up: the person gets this password and is signed in. After a reset no other session goes on.
 * @returns the new session's cookie; null when the link was used, replaced or ran out meanwhile.
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
    readonly from: { readonly ip: string; readonly userAgent: string };
  },
): Promise<string | null> {
  const { purpose, token, owner, from } = input;
  return db.kysely.transaction().execute(async (tx) => {
    // The account before the link, as in a deactivation, so that the two follow each other.
    const active = await tx
      .selectFrom("users")
      .select("id")
      .where("id", "=", owner.id)
      .where("deactivated_at", "is", null)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (active === undefined || (await consumeLink(tx, purpose, token)) !== owner.id) return null;
    await tx
      .updateTable("users")
      .set({
        password_hash: input.passwordHash,
        invited_at: null,
        ...(input.name === undefined ? {} : { name: input.name }),
      })
      .where("id", "=", owner.id)
      .execute();
    // The other kind of link would change the password once more.
    if (purpose === "invitation") await deleteLinks(tx, owner.id, "password_reset");
    await endSessions(tx, owner.id);
    await recordAudit(
      tx,
      { ...actorFor(owner), ...from, credential: null, credentialId: null },
      {
        action: purpose === "invitation" ? "invitation_accepted" : "password_changed",
        subject: { type: "user", id: owner.id },
        details: { by: purpose },
      },
    );
    return (await beginSession(tx, owner, "link", from)).cookie;
  });
}
