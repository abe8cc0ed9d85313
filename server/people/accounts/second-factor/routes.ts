import type { FastifyRequest } from "fastify";
import * as contract from "../../../../contract/accounts/second-factor.ts";
import { because } from "../../../../contract/causes/causes.ts";
import { actorOf, recordAudit } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { invalidInput, ProblemError } from "../../../platform/http/errors/problem.ts";
import { type Api, route } from "../../../platform/http/routing/route.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import { findRules, isBreakGlass, requiresSecondFactor } from "../../access/security-rules.ts";
import { type Change, findAccount, mailOf, tell } from "../one-time-links/account-changes.ts";
import { newTotpSecret, totpUri } from "../sign-in/codes.ts";
import { verifyPassword } from "../sign-in/passwords.ts";
import * as factors from "../sign-in/second-factor.ts";
import { addProof, endSessions, removeProof } from "../sign-in/sessions.ts";
import { deleteAttempts, keyOf, takeAttempt, tooManyAttempts } from "../sign-in/throttle.ts";
import { refuseUnproven } from "../users/refuse-unproven.ts";
import { resetSecondFactor } from "./changes.ts";

interface Dependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly encryptor: Encryptor;
  readonly config: Pick<Config, "baseUrl" | "smtp" | "signInProviders">;
}

/** Two-factor authentication: turned on and off by each user, and reset by admins. */
export function secondFactorRoutes(api: Api, deps: Dependencies): void {
  const { db, encryptor } = deps;

  route(api, contract.getSecondFactor, async ({ principal }) => {
    const factor = await factors.findSecondFactor(db.kysely, principal.userId);
    return {
      type: factor === undefined ? null : ("totp" as const),
      since: factor?.since.toISOString() ?? null,
      recovery_codes_left: factor?.recoveryCodes ?? 0,
    };
  });

  route(api, contract.addSecondFactor, async ({ principal, request, body }) => {
    const { userId } = principal;
    await refuseUnproven(db.kysely, principal, deps.config.signInProviders);
    const me = await findAccount(db.kysely, userId);
    const stored = me.password_hash;
    if (stored === null) throw new ProblemError("wrong_state", because("second_factor_without_password"));
    // As when the password is changed, of which this shares the throttle.
    await throttled(userId, "change", async (key) => {
      if (!(await request.server.passwordWork.run(() => verifyPassword(stored, body.password))))
        throw invalidInput([{ pointer: "/password", detail: "is not your current password" }]);
      await db.kysely.transaction().execute((tx) => deleteAttempts(tx, [key]));
    });
    const secret = await newTotpSecret();
    const isKept = await db.kysely
      .transaction()
      .execute((tx) => factors.keepSecret(tx, encryptor, userId, secret));
    if (!isKept) throw isOn();
    const issuer = `Parley (${new URL(deps.config.baseUrl).host})`;
    return { secret, uri: await totpUri(secret, { issuer, email: me.email }) };
  });

  route(api, contract.confirmSecondFactor, async ({ principal, request, body }) => {
    const { userId } = principal;
    await refuseUnproven(db.kysely, principal, deps.config.signInProviders);
    const codes = await throttled(userId, "second factor", (key) =>
      db.kysely.transaction().execute(async (tx) => {
        if ((await factors.findSecondFactor(tx, userId)) !== undefined) throw isOn();
        const confirmed = await factors.confirmSecret(tx, { encryptor, log: request.log }, userId, body.code);
        if (confirmed === null) return null;
        await deleteAttempts(tx, [key]);
        // Sessions that were started without a code, except the one that set it up, which has just sent one.
        const own = principal.tokenType === "session" ? principal.tokenId : undefined;
        await endSessions(tx, userId, own);
        if (own !== undefined) await addProof(tx, own, "totp");
        await noteChange(tx, request, "second_factor_turned_on", userId);
        return confirmed;
      }),
    );
    if (codes === null)
      throw invalidInput([
        {
          pointer: "/code",
          detail:
            "is not the code of the secret that was created in the last hour; check the clock of the device, or start again",
        },
      ]);
    deps.jobs.wake();
    return { recovery_codes: codes };
  });

  route(api, contract.replaceRecoveryCodes, async ({ principal, request }) => {
    const codes = await db.kysely.transaction().execute(async (tx) => {
      if ((await factors.findSecondFactor(tx, principal.userId)) === undefined) throw isOff();
      await noteChange(tx, request, "recovery_codes_replaced", principal.userId);
      return factors.replaceCodes(tx, principal.userId);
    });
    deps.jobs.wake();
    return { recovery_codes: codes };
  });

  route(api, contract.removeSecondFactor, async ({ principal, request }) => {
    await db.kysely.transaction().execute(async (tx) => {
      await refuseRemoval(tx, principal);
      if (!(await factors.deleteSecondFactor(tx, principal.userId))) throw isOff();
      await removeProof(tx, principal.userId);
      await noteChange(tx, request, "second_factor_turned_off", principal.userId);
    });
    deps.jobs.wake();
    return { success: true as const };
  });

  route(api, contract.resetSecondFactor, async ({ principal, request, params }) => {
    if (params.user_id.toLowerCase() === principal.userId)
      await refuseUnproven(db.kysely, principal, deps.config.signInProviders);
    await db.kysely.transaction().execute(async (tx) => {
      const user = await tx
        .selectFrom("users")
        .select("id")
        .where("id", "=", params.user_id)
        .where("workspace_id", "=", principal.workspaceId)
        .executeTakeFirst();
      if (user === undefined)
        throw new ProblemError("not_found", `there is no user ${params.user_id} in this workspace`);
      await resetSecondFactor(tx, actorOf(request), user.id, {
        mail: mailOf(deps),
        providers: deps.config.signInProviders,
      });
    });
    deps.jobs.wake();
    return { success: true as const };
  });

  /** Runs a guess of the caller, which is counted until it succeeds. */
  async function throttled<T>(
    userId: string,
    what: "change" | "second factor",
    guess: (key: Buffer) => Promise<T>,
  ): Promise<T> {
    const key = keyOf(what, userId);
    const wait = await takeAttempt(db, [{ key, free: 5, leakSec: 900 }]);
    if (wait > 0) throw tooManyAttempts(wait);
    return guess(key);
  }

  async function noteChange(tx: Tx, request: FastifyRequest, action: Change, userId: string): Promise<void> {
    await recordAudit(tx, actorOf(request), { action, subject: { type: "user", id: userId } });
    await tell(tx, mailOf(deps), userId, action);
  }
}

/** @throws ProblemError `wrong_state` where the workspace requires the second factor of its user. */
async function refuseRemoval(tx: Tx, { workspaceId, userId, role }: Principal): Promise<void> {
  const rules = await findRules(tx, workspaceId);
  if (requiresSecondFactor(rules, role) || isBreakGlass(rules, userId))
    throw new ProblemError("wrong_state", because("second_factor_required_by_workspace"));
}

function isOn(): ProblemError {
  return new ProblemError("wrong_state", because("second_factor_on"));
}

function isOff(): ProblemError {
  return new ProblemError("wrong_state", because("second_factor_off"));
}
