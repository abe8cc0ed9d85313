import { randomUUIDv7 } from "node:crypto";
import type { z } from "zod";
import type { Violation } from "../../contract/errors.ts";
import { type createHook as createHookOperation, type HookType, hookTypes } from "../../contract/hooks.ts";
import { describeGate, isOpen, type VersionName } from "../../contract/versions.ts";
import type { Principal } from "../access/principal.ts";
import { type AuditActor, recordAudit } from "../audit/record.ts";
import type { Database, Tx } from "../db/database.ts";
import { validateBody } from "../http/body-rules.ts";
import { invalidInput, ProblemError } from "../http/problem.ts";
import type { Sealer } from "../links/sealer.ts";
import { countHooks, findGrantOfToken, type HookRow, insertHook } from "./queries.ts";
import type { HookAnswer, HookSender } from "./send.ts";
import { newSecret } from "./signing.ts";
import { checkHookUrl } from "./target.ts";

interface Dependencies {
  readonly db: Database;
  readonly sender: HookSender;
  readonly sealer: Sealer;
}

type CreateInput = z.output<(typeof createHookOperation)["body"]>;

/** How long the address has to answer the test request (design, section 4, "Hook targets"). */
const testTimeoutMs = 10_000;

/** Far more than anybody needs: each event costs a delivery for each of its type. */
const mostHooks = 5000;

/** The hook types that exist in a version. */
export function typesOf(version: VersionName): HookType[] {
  return (Object.keys(hookTypes) as HookType[]).filter((type) => isOpen(hookTypes[type].gate, version));
}

/**
 * Registers a hook. Contract: "On creation the service sends a reachability test (a POST in 2026-10-01) to hook_url;
 * unless it answers with a 2xx status the hook is not created." Here it is a POST in both versions.
 * @returns the row and the signing secret, which is shown this once.
 */
export async function createHook(
  { db, sender, sealer }: Dependencies,
  principal: Principal,
  version: VersionName,
  input: CreateInput,
  actor: AuditActor,
): Promise<{ row: HookRow; secret: string }> {
  const include = checkCreation(principal, version, input);
  if ((await countHooks(db.kysely, principal)) >= mostHooks)
    throw new ProblemError(
      "wrong_state",
      `there are ${mostHooks} hooks already, which is the limit; delete some`,
    );
  const answer = await sender.send({
    url: input.hook_url,
    headers: {},
    body: "{}",
    timeoutMs: testTimeoutMs,
  });
  if (!answer.ok) throw new ProblemError("hook_unreachable", describeRefusal(input.hook_url, answer));
  const secret = newSecret();
  const row = await db.kysely.transaction().execute(async (tx) => {
    const hook = await insertHook(tx, {
      oauth_grant_id: principal.tokenType === "oauth" ? await holdGrant(tx, principal) : null,
      id: randomUUIDv7(),
      workspace_id: principal.workspaceId,
      created_by: principal.userId,
      scope: principal.scope,
      version,
      hook_url: input.hook_url,
      hook_type: input.hook_type,
      include,
      secret: sealer.seal(secret),
    });
    await recordAudit(tx, actor, {
      action: "hook_created",
      subject: { type: "hook", id: hook.id },
      // Not the whole address: what identifies the caller to the receiver is often a part of it.
      details: { hook_type: input.hook_type, host: new URL(input.hook_url).host },
    });
    return hook;
  });
  return { row, secret };
}

/** What the app was let in by, held until the hook is there: whoever takes it back then finds the hook. */
async function holdGrant(tx: Tx, principal: Principal): Promise<string> {
  const grant = await findGrantOfToken(tx, principal.tokenId);
  if (grant === undefined) throw new ProblemError("forbidden", "the access of this app was just taken back");
  return grant;
}

/** Every rule of a new hook that needs no network. @returns the include to keep. */
function checkCreation(
  principal: Principal,
  version: VersionName,
  input: CreateInput,
): Record<string, unknown> {
  const violations: Violation[] = [];
  const { gate, include: schema } = hookTypes[input.hook_type];
  if (!isOpen(gate, version))
    violations.push({
      pointer: "/hook_type",
      detail: `is not part of version ${version}; it exists in ${describeGate(gate)}`,
    });
  const urlFault = checkHookUrl(input.hook_url, { httpsOnly: isOpen("https_hook_urls", version) });
  if (urlFault !== null) violations.push({ pointer: "/hook_url", detail: urlFault });
  let include: Record<string, unknown> = {};
  // Contract: include is "always an empty object for hook types without include support".
  if (schema !== null && input.include !== undefined) {
    try {
      include = validateBody(schema, input.include);
    } catch (error) {
      if (!(error instanceof ProblemError) || error.violations === undefined) throw error;
      violations.push(
        ...error.violations.map((fault) => ({ ...fault, pointer: `/include${fault.pointer}` })),
      );
    }
    if (include.private_notes === true && principal.scope === "workspace")
      violations.push({
        pointer: "/include/private_notes",
        detail: "needs a personal token; this is a workspace token",
      });
  }
  if (violations.length > 0) throw invalidInput(violations);
  return include;
}

function describeRefusal(url: string, answer: HookAnswer): string {
  // Not which address: that would tell what names mean inside this network.
  const what =
    answer.status === null
      ? answer.error?.replace(/the address \S+/, "its address")
      : `it answered with status ${answer.status}`;
  return `the hook was not created: ${new URL(url).origin} has to answer a test request (POST {}) with a 2xx status, but ${what}`;
}
