import type { VersionName } from "../../../../contract/versions.ts";
import { hookTypesIn, isHookType } from "../../../../contract/webhooks/hook-types.ts";
import * as contract from "../../../../contract/webhooks/hooks.ts";
import { actorOf, recordAudit } from "../../../platform/audit/record.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database } from "../../../platform/db/database.ts";
import { transactWithRetry } from "../../../platform/db/retry.ts";
import { invalidInput, ProblemError } from "../../../platform/http/errors/problem.ts";
import { type Api, Ready, route } from "../../../platform/http/routing/route.ts";
import { warningHeader } from "../../../platform/http/warning.ts";
import type { HostLimit } from "../transport/host-limit.ts";
import type { HookSender } from "../transport/send.ts";
import { presentHook } from "./present.ts";
import { deleteHook, findHooks } from "./queries.ts";
import { checkHookType, createHook, findHookViolations } from "./service.ts";

/** Does not reveal whether the hook exists. */
export function hookNotFound(hookId: string): ProblemError {
  return new ProblemError("not_found", `there is no hook ${hookId} that this token can see`);
}

/** The hooks operations of the contract. */
export function hookRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly sender: HookSender;
    readonly encryptor: Encryptor;
    readonly hostLimit: HostLimit;
    readonly config: Pick<Config, "hooksPerUser" | "compatibility">;
  },
): void {
  const { db } = deps;

  route(
    api,
    contract.createHook,
    async ({ principal, body, request }) => {
      const { row, secret, warning } = await createHook(
        deps,
        principal,
        inVersion(request.apiVersion),
        body,
        actorOf(request),
      );
      const hook = contract.createHook.response.parse(presentHook(row, secret));
      return new Ready(JSON.stringify(hook), warningHeader(warning));
    },
    {
      findViolations: async (principal, body, _params, version) =>
        findHookViolations(principal, body, inVersion(version)),
    },
  );

  // Contract: a version's list shows its own types only.
  route(api, contract.listHooks, async ({ principal, body, request }) => {
    const version = inVersion(request.apiVersion);
    const wanted = body.filter?.hook_type;
    // A type of another version is valid, but this version's list has none of its hooks.
    const problem = wanted === undefined || isHookType(wanted) ? null : checkHookType(wanted, version);
    if (problem !== null) throw invalidInput([{ pointer: "/filter/hook_type", detail: problem }]);
    const types = hookTypesIn(version).filter((type) => wanted === undefined || type === wanted);
    const rows = await findHooks(db.kysely, principal, { types, state: body.filter?.state });
    return { hooks: rows.map((row) => presentHook(row)) };
  });

  route(api, contract.deleteHook, async ({ principal, params, request }) => {
    const isDeleted = await transactWithRetry(db, async (tx) => {
      if (!(await deleteHook(tx, principal, params.hook_id))) return false;
      await recordAudit(tx, actorOf(request), {
        action: "hook_deleted",
        subject: { type: "hook", id: params.hook_id },
      });
      return true;
    });
    if (!isDeleted) throw hookNotFound(params.hook_id);
    return { success: true as const };
  });
}

function inVersion(version: VersionName | null): VersionName {
  if (version === null) throw new Error("hooks are managed within a version");
  return version;
}
