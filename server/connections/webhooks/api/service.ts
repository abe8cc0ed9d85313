import { randomUUIDv7 } from "node:crypto";
import { z } from "zod";
import { because } from "../../../../contract/causes/causes.ts";
import type { Violation } from "../../../../contract/errors.ts";
import { describeGate, isOpen, type VersionName } from "../../../../contract/versions.ts";
import {
  type HookType,
  hookTypes,
  hookTypesIn,
  isHookType,
} from "../../../../contract/webhooks/hook-types.ts";
import { type createHook as createHookOperation, includeOf } from "../../../../contract/webhooks/hooks.ts";
import { type AuditActor, recordAudit } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database, Tx } from "../../../platform/db/database.ts";
import { validateBody } from "../../../platform/http/body/body-rules.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { enforceQuota } from "../../../platform/http/limits/quota.ts";
import { basicAuthorization, checkHookUrl, splitHookUrl } from "../../../platform/outbound/target.ts";
import { compatibleInclude, explainIgnored } from "../../../recordings/recordings/json/compatible-include.ts";
import type { HostLimit } from "../transport/host-limit.ts";
import type { HookResponse, HookSender } from "../transport/send.ts";
import { newSecret } from "../transport/signing.ts";
import { holdAccess } from "./access.ts";
import { countHooksOf, type HookRow, insertHook } from "./queries.ts";
import { redactCredentials } from "./redact.ts";

interface Dependencies {
  readonly db: Database;
  readonly sender: HookSender;
  readonly encryptor: Encryptor;
  readonly hostLimit: HostLimit;
  readonly config: Pick<Config, "hooksPerUser" | "compatibility">;
}

type CreateInput = z.output<(typeof createHookOperation)["body"]>;

/** How long the receiver has to respond to the test request (design, section 4, "Hook targets"). */
const testTimeoutMs = 10_000;

/**
 * Registers a hook. Contract: "On creation the service sends a reachability test (a POST in 2026-10-01) to hook_url;
 * unless it answers with a 2xx status the hook is not created." Parley sends a POST in both versions.
 * @returns the row, the signing secret, which is shown this once, and what the caller should know; null: nothing.
 */
export async function createHook(
  { db, sender, encryptor, hostLimit, config }: Dependencies,
  principal: Principal,
  version: VersionName,
  input: CreateInput,
  actor: AuditActor,
): Promise<{ row: HookRow; secret: string; warning: string | null }> {
  const { hook_type: type } = input;
  if (!isHookType(type)) throw new Error("the route has refused other hook types");
  const wanted = readInclude(type, input.include);
  const include = { ...compatibleInclude(wanted, principal, config) };
  const target = splitHookUrl(input.hook_url);
  if (typeof target === "string") throw new Error("the route has refused invalid credentials");
  const { url, credentials } = target;
  const checkQuota = (tx: Tx): Promise<void> =>
    enforceQuota(tx, {
      name: "hooks",
      owner: principal.userId,
      limit: config.hooksPerUser,
      count: () => countHooksOf(tx, principal.userId),
      refusal: "hook_quota",
    });
  // Before the test request too, which could otherwise be repeated without limit.
  await db.kysely.transaction().execute(checkQuota);
  await refuseBusyHost(hostLimit, url);
  const response = await sender.send({
    url,
    headers: credentials === null ? {} : { authorization: basicAuthorization(credentials) },
    body: "{}",
    timeoutMs: testTimeoutMs,
  });
  if (!response.ok)
    throw new ProblemError(
      "hook_unreachable",
      describeRefusal(url, redactCredentials(response, credentials)),
    );
  const secret = newSecret();
  const row = await db.kysely.transaction().execute(async (tx) => {
    await checkQuota(tx);
    const hook = await insertHook(tx, {
      // The reachability test took a while: access that ended meanwhile creates no hook.
      ...(await holdAccess(tx, principal)),
      id: randomUUIDv7(),
      workspace_id: principal.workspaceId,
      scope: principal.scope,
      version,
      hook_url: url,
      credentials: credentials === null ? null : encryptor.encrypt(credentials),
      hook_type: type,
      include,
      secret: encryptor.encrypt(secret),
    });
    await recordAudit(tx, actor, {
      action: "hook_created",
      subject: { type: "hook", id: hook.id },
      // Not the whole URL, which often contains a token for the receiver.
      details: { hook_type: input.hook_type, host: new URL(url).host },
    });
    return hook;
  });
  return { row, secret, warning: explainIgnored(wanted, principal, config) };
}

/** @throws ProblemError `rate_limited` if hooks already send too many requests to the URL's host. */
async function refuseBusyHost(hostLimit: HostLimit, url: string): Promise<void> {
  const waitMs = await hostLimit.take(url);
  if (waitMs === 0) return;
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  throw new ProblemError("rate_limited", because("host_busy", { host: new URL(url).host, seconds }), {
    headers: { "retry-after": String(seconds) },
  });
}

/** The parts of a Create Hook body that have rules of their own, as far as they have the right JSON type. */
const PartialBody = z.object({
  hook_url: z.string().optional().catch(undefined),
  hook_type: z.string().optional().catch(undefined),
  include: z.record(z.string(), z.unknown()).nullish().catch(undefined),
});

/** Checks a new hook without the network: the rules of the version, of the hook type and of the token's scope. */
export function findHookViolations(principal: Principal, body: unknown, version: VersionName): Violation[] {
  const { hook_url: url, hook_type: type, include } = PartialBody.safeParse(body).data ?? {};
  const violations: Violation[] = [];
  const typeProblem = type === undefined ? null : checkHookType(type, version);
  if (typeProblem !== null) violations.push({ pointer: "/hook_type", detail: typeProblem });
  const urlProblem = url === undefined ? null : checkTarget(url, version);
  if (urlProblem !== null) violations.push({ pointer: "/hook_url", detail: urlProblem });
  if (type === undefined || !isHookType(type) || !include) return violations;
  try {
    const { private_notes } = readInclude(type, include);
    if (private_notes === true && principal.scope === "workspace")
      violations.push({
        pointer: "/include/private_notes",
        detail: "needs a personal token; this is a workspace token",
      });
  } catch (error) {
    if (!(error instanceof ProblemError) || error.violations === undefined) throw error;
    violations.push(
      ...error.violations.map((violation) => ({ ...violation, pointer: `/include${violation.pointer}` })),
    );
  }
  return violations;
}

function checkTarget(hookUrl: string, version: VersionName): string | null {
  const target = splitHookUrl(hookUrl);
  return typeof target === "string"
    ? target
    : checkHookUrl(target.url, { httpsOnly: isOpen("https_hook_urls", version) });
}

/** Why a hook type is invalid in this version; null: it is valid. */
export function checkHookType(type: string, version: VersionName): string | null {
  const types = hookTypesIn(version);
  if (types.some((name) => name === type)) return null;
  const choice = `must be one of: ${types.join(", ")}`;
  return isHookType(type)
    ? `is not part of version ${version}; it exists in ${describeGate(hookTypes[type].gate)}; ${choice}`
    : choice;
}

/**
 * The include to store. Contract: it is "always an empty object for hook types without include support".
 * @throws ProblemError `invalid_input` with pointers into the include.
 */
function readInclude(type: HookType, include: Record<string, unknown> | undefined): Record<string, unknown> {
  const schema = includeOf(type);
  return schema === null || include === undefined ? {} : validateBody(schema, include);
}

function describeRefusal(url: string, response: HookResponse): string {
  // Without the IP address, which would reveal how host names resolve inside this network.
  const what =
    response.status === null
      ? response.error?.replace(/the IP address \S+/, "its IP address")
      : `it returned status ${response.status}`;
  return `the hook was not created: ${new URL(url).origin} must respond to a test request (POST {}) with a 2xx status, but ${what}`;
}
