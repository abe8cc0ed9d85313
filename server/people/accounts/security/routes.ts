import type { FastifyRequest } from "fastify";
import * as contract from "../../../../contract/accounts/security.ts";
import type { Explanation } from "../../../../contract/causes/causes.ts";
import { actorOf } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Database } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { type Api, route } from "../../../platform/http/routing/route.ts";
import { findRules } from "../../access/security-rules.ts";
import { previewRules } from "./preview.ts";
import { authorRefusal, changedRules, checkRules, type RulesAuthor, rulesOf, saveRules } from "./rules.ts";

/** The security rules of a workspace. */
export function securityRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    /** Whether users can sign in by single sign-on now. */
    readonly hasSingleSignOn: () => boolean;
  },
): void {
  const { db, hasSingleSignOn } = deps;

  const read = async (principal: Principal, request: FastifyRequest) => {
    const { admins_since, all_since, ...rules } = rulesOf(await findRules(db.kysely, principal.workspaceId));
    return {
      ...rules,
      second_factor_since: all_since ?? admins_since,
      single_sign_on_available: hasSingleSignOn(),
      your_ip: request.ip,
    };
  };

  route(api, contract.getWorkspaceSecurity, ({ principal, request }) => read(principal, request));

  route(
    api,
    contract.updateWorkspaceSecurity,
    async ({ principal, request, body }) => {
      await db.kysely.transaction().execute((tx) =>
        saveRules(tx, actorOf(request), authorOf(principal, request), body, {
          hasSingleSignOn: hasSingleSignOn(),
        }),
      );
      return read(principal, request);
    },
    { keepNulls: true },
  );

  route(
    api,
    contract.previewWorkspaceSecurity,
    ({ principal, request, body }) =>
      db.kysely.transaction().execute(async (tx) => {
        const { workspaceId } = principal;
        const rules = changedRules(await findRules(tx, workspaceId), body, new Date());
        const problem = await checkRules(tx, rules, { workspaceId, hasSingleSignOn: hasSingleSignOn() }).then(
          () => null,
          (error: unknown): Refusal => {
            if (error instanceof ProblemError && error.code === "wrong_state")
              return { detail: error.message, cause: error.cause };
            throw error;
          },
        );
        const refusal = problem ?? (await authorRefusal(tx, rules, authorOf(principal, request)));
        return {
          refuses_you: refusal?.detail ?? null,
          refuses_you_cause: refusal?.cause ?? null,
          ...(await previewRules(tx, workspaceId, rules)),
        };
      }),
    { keepNulls: true },
  );
}

/** Why rules can't be saved. */
type Refusal = Pick<Explanation, "detail"> & { readonly cause: Explanation["cause"] | undefined };

function authorOf({ workspaceId, tokenId }: Principal, { ip }: Pick<FastifyRequest, "ip">): RulesAuthor {
  return { workspaceId, sessionId: tokenId, ip };
}
