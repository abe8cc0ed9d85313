import * as contract from "../../../../contract/accounts/passkeys.ts";
import { actorOf, originOf, recordAudit } from "../../../platform/audit/record.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database } from "../../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../../platform/http/errors/problem.ts";
import { ipPrefixOf } from "../../../platform/http/limits/ip-prefix.ts";
import { type Api, Ready, route } from "../../../platform/http/routing/route.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { findAccount, mailOf, tell } from "../one-time-links/account-changes.ts";
import { sessionCookie, sessionCookieOf } from "../sign-in/session-cookie.ts";
import { endSessionOf, endSessionsOfPasskey } from "../sign-in/sessions.ts";
import { recordRefusal } from "../sign-in/sign-in-rules.ts";
import { keyOf, refundAttempt, takeAttempt, tooManyAttempts } from "../sign-in/throttle.ts";
import { lockAccount } from "../users/queries.ts";
import { refuseUnproven } from "../users/refuse-unproven.ts";
import { refuseLastWay } from "../users/ways-to-sign-in.ts";
import { challengeOf, consumeChallenge, issueChallenge } from "./ceremony.ts";
import * as passkeys from "./passkeys.ts";

/** Passkeys: added, named and removed by each user, and used to sign in. */
export function passkeyRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
    readonly encryptor: Encryptor;
    readonly config: Pick<Config, "baseUrl" | "signInProviders" | "smtp">;
    /** The user who has signed in, as Get Me returns them. */
    readonly presentMe: (userId: string, sessionId: string) => Promise<unknown>;
  },
): void {
  const { db, encryptor, config } = deps;
  const { baseUrl } = config;
  const party = passkeys.relyingPartyOf(baseUrl);

  route(api, contract.listPasskeys, async ({ principal }) => ({
    passkeys: (await passkeys.findPasskeys(db.kysely, principal.userId)).map(present),
  }));

  route(api, contract.startPasskey, async ({ principal }) => {
    await refuseUnproven(db.kysely, principal, config.signInProviders);
    const { challenge, cookie } = issueChallenge({ encryptor, baseUrl }, principal.userId);
    const user = await findAccount(db.kysely, principal.userId);
    const options = await passkeys.creationOptions(db, party, user, challenge);
    return new Ready(JSON.stringify({ options }), { "set-cookie": cookie });
  });

  route(api, contract.addPasskey, async ({ principal, request, body }) => {
    const { userId } = principal;
    await refuseUnproven(db.kysely, principal, config.signInProviders);
    const challenge = challengeOf(request, { encryptor, baseUrl }, userId);
    if (challenge === null)
      throw refusedResponse("it took more than 15 minutes, or another browser started it");
    const added = await db.kysely
      .transaction()
      .execute(async (tx) => {
        const row = await passkeys.addPasskey(tx, { party, userId, challenge, ...body });
        await recordAudit(tx, actorOf(request), {
          action: "passkey_added",
          subject: { type: "user", id: userId },
          details: { name: row.name },
        });
        await tell(tx, mailOf(deps), userId, "passkey_added");
        return row;
      })
      .catch((error: unknown) => {
        throw error instanceof passkeys.PasskeyError ? refusedResponse(error.message) : error;
      });
    deps.jobs.wake();
    return present(added);
  });

  route(api, contract.renamePasskey, async ({ principal, params, body }) => {
    const row = await db.kysely
      .updateTable("passkeys")
      .set({ name: body.name })
      .where("id", "=", params.passkey_id)
      .where("user_id", "=", principal.userId)
      .returning(["id", "name", "uses", "created_at", "last_used_at"])
      .executeTakeFirst();
    if (row === undefined) throw notFound(params.passkey_id);
    return present(row);
  });

  route(api, contract.removePasskey, async ({ principal, request, params }) => {
    await db.kysely.transaction().execute(async (tx) => {
      const { userId, workspaceId } = principal;
      const { passkey_id: passkeyId } = params;
      await lockAccount(tx, workspaceId, userId);
      const own = await tx
        .selectFrom("passkeys")
        .select("name")
        .where("id", "=", passkeyId)
        .where("user_id", "=", userId)
        .executeTakeFirst();
      if (own === undefined) throw notFound(passkeyId);
      await refuseUnproven(tx, principal, config.signInProviders);
      await refuseLastWay(
        tx,
        { id: userId, workspace_id: workspaceId },
        { passkeyId },
        config.signInProviders,
      );
      await tx.deleteFrom("passkeys").where("id", "=", passkeyId).where("user_id", "=", userId).execute();
      const ended = await endSessionsOfPasskey(tx, passkeyId, principal.tokenId);
      await recordAudit(tx, actorOf(request), {
        action: "passkey_removed",
        subject: { type: "user", id: userId },
        details: { name: own.name, ended_sessions: ended },
      });
      await tell(tx, mailOf(deps), userId, "passkey_removed");
    });
    deps.jobs.wake();
    return { success: true as const };
  });

  route(api, contract.startPasskeySignIn, async () => {
    const { challenge, cookie } = issueChallenge({ encryptor, baseUrl }, null);
    const options = await passkeys.requestOptions(party, challenge);
    return new Ready(JSON.stringify({ options }), { "set-cookie": cookie });
  });

  route(api, contract.signInWithPasskey, async ({ request, body }) => {
    const from = originOf(request);
    const limit = { key: keyOf("passkey place", ipPrefixOf(from.ip)), free: 50, leakSec: 30 };
    const wait = await takeAttempt(db, [limit]);
    if (wait > 0) throw tooManyAttempts(wait);
    const challenge = challengeOf(request, { encryptor, baseUrl }, null);
    const refused = (detail: string) =>
      new ProblemError("sign_in_refused", detail, {
        headers: { "www-authenticate": 'Bearer realm="parley"' },
      });
    if (challenge === null)
      throw refused("it took more than 15 minutes, or another browser started it; try again");
    const { userId, sessionId, cookie } = await recordRefusal(
      db,
      from,
      () =>
        db.kysely
          .transaction()
          .execute((tx) => passkeys.signInWithPasskey(tx, request, { party, challenge, ...body })),
      (tx) => consumeChallenge(tx, challenge),
    ).catch((error: unknown) => {
      throw error instanceof passkeys.PasskeyError ? refused(error.message) : error;
    });
    await refundAttempt(db.kysely, [limit.key]);
    await endSessionOf(db, sessionCookieOf(request, baseUrl));
    return new Ready(JSON.stringify(await deps.presentMe(userId, sessionId)), {
      "set-cookie": sessionCookie(baseUrl, cookie),
    });
  });
}

function present(row: passkeys.PasskeyRow) {
  return {
    id: row.id,
    name: row.name,
    uses: row.uses,
    created_datetime: row.created_at.toISOString(),
    last_used_datetime: row.last_used_at?.toISOString() ?? null,
  };
}

function refusedResponse(detail: string): ProblemError {
  return invalidInput([{ pointer: "/response", detail }]);
}

function notFound(id: string): ProblemError {
  return new ProblemError("not_found", `you have no passkey ${id}`);
}
