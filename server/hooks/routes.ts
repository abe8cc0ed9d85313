import * as contract from "../../contract/hooks.ts";
import type { VersionName } from "../../contract/versions.ts";
import { actorOf, recordAudit } from "../audit/record.ts";
import type { Database } from "../db/database.ts";
import { transactWithRetry } from "../db/retry.ts";
import { ProblemError } from "../http/problem.ts";
import { type Api, type Call, route } from "../http/route.ts";
import type { Sealer } from "../links/sealer.ts";
import { presentHook } from "./present.ts";
import { deleteHook, findHooks } from "./queries.ts";
import type { HookSender } from "./send.ts";
import { createHook, typesOf } from "./service.ts";

/** What a caller reads who may not know whether the hook exists. */
export function hookNotFound(hookId: string): ProblemError {
  return new ProblemError("not_found", `there is no hook ${hookId} that this token can see`);
}

/** The hooks operations of the contract. */
export function hookRoutes(
  api: Api,
  deps: { readonly db: Database; readonly sender: HookSender; readonly sealer: Sealer },
): void {
  const { db } = deps;

  route(api, contract.createHook, async ({ principal, body, request }) => {
    const { row, secret } = await createHook(deps, principal, versionOf(request), body, actorOf(request));
    return presentHook(row, secret);
  });

  // Contract: a version's list shows its own types only.
  route(api, contract.listHooks, async ({ principal, body, request }) => {
    const wanted = body.filter?.hook_type;
    const types = typesOf(versionOf(request)).filter((type) => wanted === undefined || type === wanted);
    const rows = await findHooks(db.kysely, principal, { types, state: body.filter?.state });
    return { hooks: rows.map((row) => presentHook(row)) };
  });

  route(api, contract.deleteHook, async ({ principal, params, request }) => {
    const wasThere = await transactWithRetry(db, async (tx) => {
      if (!(await deleteHook(tx, principal, params.hook_id))) return false;
      await recordAudit(tx, actorOf(request), {
        action: "hook_deleted",
        subject: { type: "hook", id: params.hook_id },
      });
      return true;
    });
    if (!wasThere) throw hookNotFound(params.hook_id);
    return { success: true as const };
  });
}

function versionOf(request: Call<typeof contract.listHooks>["request"]): VersionName {
  if (request.apiVersion === null) throw new Error("hooks are managed within a version");
  return request.apiVersion;
}
