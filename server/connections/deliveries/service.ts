import { randomUUIDv7 } from "node:crypto";
import { sql } from "kysely";
import type { z } from "zod";
import { because } from "../../../contract/causes/causes.ts";
import type * as contract from "../../../contract/deliveries/deliveries.ts";
import type { Violation } from "../../../contract/errors.ts";
import { sentenceOf, sentences } from "../../../contract/sentences.ts";
import { versionNames } from "../../../contract/versions.ts";
import { managesWorkspace } from "../../people/access/manages-workspace.ts";
import { deleteHooksWhere } from "../../people/events/hooks.ts";
import { type AuditActor, type Requester, recordAudit } from "../../platform/audit/record.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Encryptor } from "../../platform/crypto/encryptor.ts";
import type { Database, Tx } from "../../platform/db/database.ts";
import { transactWithRetry } from "../../platform/db/retry.ts";
import { invalidInput, ProblemError } from "../../platform/http/errors/problem.ts";
import { enforceQuota } from "../../platform/http/limits/quota.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { isKey } from "../../platform/storage/key-rules.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { holdAccess, isSameAccess } from "../webhooks/api/access.ts";
import { disabledReason, isOn } from "../webhooks/api/present.ts";
import { countHooksOf } from "../webhooks/api/queries.ts";
import { requeueDelivery } from "../webhooks/deliveries/requeue.ts";
import { type AttemptResponse, notSent } from "../webhooks/dispatch/attempt.ts";
import { disableHookRow, enableHookRow } from "../webhooks/management/queries.ts";
import type { HostLimit } from "../webhooks/transport/host-limit.ts";
import type { HookSender } from "../webhooks/transport/send.ts";
import { newSecret } from "../webhooks/transport/signing.ts";
import { checkWebhookUrl, isChat, sendToChat } from "./chat.ts";
import { composeMessage, markAsTest } from "./content.ts";
import { queued, sendTestEmail } from "./email.ts";
import { type Example, findCandidates, readExample } from "./example.ts";
import { folderKey, rewriteFiles, tryFile } from "./files.ts";
import { noteOf, notePath } from "./note.ts";
import {
  type DestinationRow,
  type DestinationValues,
  insertDestination,
  updateDestinationRow,
} from "./queries.ts";

export interface DeliveryServices {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly sender: HookSender;
  readonly store: ObjectStore;
  readonly encryptor: Encryptor;
  readonly hostLimit: HostLimit;
  readonly config: Pick<
    Config,
    "baseUrl" | "hooksPerUser" | "hooksAllowAddresses" | "smtp" | "languageModel" | "dataDir"
  >;
}

type CreateInput = z.output<(typeof contract.createDestination)["body"]>;
type UpdateInput = z.output<(typeof contract.updateDestination)["body"]>;
type Kind = contract.DestinationKind;

export function destinationNotFound(id: string): ProblemError {
  return new ProblemError("not_found", `there is no delivery ${id} that you manage; see List Deliveries`);
}

const kindNames: Readonly<Record<Kind, string>> = {
  slack: "Slack",
  teams: "Microsoft Teams",
  mattermost: "Mattermost",
  discord: "Discord",
  email: "Email",
  markdown: "Markdown",
};

/** Creates a delivery. Nothing is sent before a recording is ready, or the delivery is tested. */
export async function createDestination(
  deps: DeliveryServices,
  { principal, actor }: Requester,
  input: CreateInput,
): Promise<string> {
  const { db, encryptor, config } = deps;
  const { kind, url } = input;
  checkKind(principal, kind);
  if (kind === "email" && config.smtp === null)
    throw new ProblemError("wrong_state", because("mail_server_missing"));
  await checkInput(deps, principal, kind, input);
  if (isChat(kind) && url === undefined)
    throw invalidInput([{ pointer: "/url", detail: "is required: the URL of the incoming webhook" }]);
  const id = randomUUIDv7();
  await transactWithRetry(db, async (tx) => {
    await enforceQuota(tx, {
      name: "hooks",
      owner: principal.userId,
      limit: config.hooksPerUser,
      count: () => countHooksOf(tx, principal.userId),
      refusal: "delivery_quota",
    });
    const access = await holdAccess(tx, principal);
    await tx
      .insertInto("hooks")
      .values({
        ...access,
        id,
        workspace_id: principal.workspaceId,
        scope: principal.scope,
        version: versionNames[versionNames.length - 1] ?? versionNames[0],
        hook_url: hookUrl(id, kind, url),
        credentials: null,
        hook_type: "delivery",
        include: "{}",
        secret: encryptor.encrypt(newSecret()),
      })
      .execute();
    await insertDestination(tx, {
      id,
      workspace_id: principal.workspaceId,
      kind,
      name: input.name ?? kindNames[kind],
      url: url === undefined ? null : encryptor.encrypt(url),
      folder: kind === "markdown" ? (input.folder ?? "") : null,
      link_people: input.link_people,
      conditions: input.conditions,
      template: input.template,
    });
    await recordAudit(tx, actor, {
      action: "delivery_created",
      subject: { type: "delivery", id },
      details: { kind, ...hostDetail(url) },
    });
  });
  return id;
}

/** The row of hooks has only the host: for the limit of requests to a host, and for operators. */
function hookUrl(id: string, kind: Kind, url: string | undefined): string {
  return url === undefined ? `delivery:${kind}#${id}` : `${new URL(url).origin}/#${id}`;
}

function hostDetail(url: string | undefined): { host?: string } {
  return url === undefined ? {} : { host: new URL(url).host };
}

/** @throws ProblemError `forbidden`: emails and files reach others than the user who sets them up. */
function checkKind(principal: Principal, kind: Kind): void {
  if (!isChat(kind) && !managesWorkspace(principal))
    throw new ProblemError(
      "forbidden",
      `only admins and workspace tokens create deliveries of the kind ${kind}`,
    );
}

/** What a request says about the destination. */
type Input = Pick<UpdateInput, "url" | "folder" | "link_people" | "conditions">;

async function checkInput(
  { db, config }: DeliveryServices,
  principal: Principal,
  kind: Kind,
  { url, folder, conditions }: Input,
): Promise<void> {
  const violations: Violation[] = [];
  if (url !== undefined && !isChat(kind))
    violations.push({ pointer: "/url", detail: "is only for deliveries to a chat" });
  else if (url !== undefined) {
    const problem = await checkWebhookUrl(url, config);
    if (problem !== null) violations.push({ pointer: "/url", detail: problem });
  }
  if (folder !== undefined && kind !== "markdown")
    violations.push({ pointer: "/folder", detail: "is only for deliveries of the kind markdown" });
  else if (folder !== undefined && folder !== "" && !isKey(folder))
    violations.push({
      pointer: "/folder",
      detail: "must be folder names separated by /, of the letters A to Z, digits, -, _ and .",
    });
  const { team_id: team, meeting_type_id: type } = conditions ?? {};
  for (const [table, id, name] of [
    ["teams", team, "team_id"],
    ["meeting_types", type, "meeting_type_id"],
  ] as const) {
    if (id === undefined) continue;
    const found = await db.kysely
      .selectFrom(table)
      .select("id")
      .where("id", "=", id)
      .where("workspace_id", "=", principal.workspaceId)
      .executeTakeFirst();
    if (found === undefined)
      violations.push({
        pointer: `/conditions/${name}`,
        detail: `is not a ${name === "team_id" ? "team" : "meeting type"} of this workspace`,
      });
  }
  if (violations.length > 0) throw invalidInput(violations);
}

/**
 * Changes a delivery. What is sent is what its owner can see, so who changes it becomes the owner: an admin can't have
 * another user's recordings sent to themselves.
 */
export async function updateDestination(
  deps: DeliveryServices,
  { principal, actor }: Requester,
  row: DestinationRow,
  input: UpdateInput,
): Promise<void> {
  const { db, jobs, encryptor } = deps;
  const { enabled, url, ...values } = input;
  const isOnlyDisabled = enabled === false && Object.keys(input).length === 1;
  if (!isOnlyDisabled) checkKind(principal, row.kind);
  await checkInput(deps, principal, row.kind, input);
  await transactWithRetry(db, async (tx) => {
    if (isOnlyDisabled) return disable(tx, row, actor);
    const access = await holdAccess(tx, principal);
    const current = await lockDestination(tx, row.id);
    const next: DestinationValues = {
      ...current,
      ...Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)),
      ...(url === undefined ? {} : { url: encryptor.encrypt(url) }),
    };
    await updateDestinationRow(tx, row.id, pickValues(next));
    const isTakenOver = !isSameAccess(access, current) || current.scope !== principal.scope;
    const { token_id, access_until, oauth_grant_id, oauth_family_id } = access;
    const owner = { created_by: access.created_by, token_id, access_until, oauth_grant_id, oauth_family_id };
    await tx
      .updateTable("hooks")
      .set({
        ...owner,
        scope: principal.scope,
        ...(url === undefined ? {} : { hook_url: hookUrl(row.id, row.kind, url) }),
      })
      .where("id", "=", row.id)
      .execute();
    if (enabled === true && !isOn(current, new Date())) await enableHookRow(tx, row.id, access);
    if (row.kind === "markdown") await rewriteFiles(tx, row.id);
    await recordAudit(tx, actor, {
      action: "delivery_changed",
      subject: { type: "delivery", id: row.id },
      details: { changed: Object.keys(input), taken_over: isTakenOver, ...hostDetail(url) },
    });
    if (enabled === false) await disable(tx, row, actor);
  });
  jobs.wake();
}

function pickValues(row: DestinationValues): DestinationValues {
  const { name, url, folder, link_people, conditions, template } = row;
  return { name, url, folder, link_people, conditions, template };
}

async function disable(tx: Tx, row: DestinationRow, actor: AuditActor): Promise<void> {
  if (!(await disableHookRow(tx, row.id, sentences.delivery_by_user))) return;
  await recordAudit(tx, actor, {
    action: "delivery_changed",
    subject: { type: "delivery", id: row.id },
    details: { changed: ["enabled"] },
  });
}

async function lockDestination(tx: Tx, id: string): Promise<DestinationRow> {
  const { rows } = await sql<DestinationRow>`
    select h.*, t.kind, t.name, t.url, t.folder, t.link_people, t.conditions, t.template
    from hooks h join destinations t on t.hook_id = h.id where h.id = ${id} for no key update of h, t`.execute(
    tx,
  );
  if (rows[0] === undefined) throw destinationNotFound(id);
  return rows[0];
}

export async function deleteDestination(
  { db }: Pick<DeliveryServices, "db">,
  actor: AuditActor,
  row: DestinationRow,
): Promise<void> {
  await transactWithRetry(db, async (tx) => {
    if ((await deleteHooksWhere(tx, sql`id = ${row.id} and hook_type = 'delivery'`)) === 0)
      throw destinationNotFound(row.id);
    await recordAudit(tx, actor, {
      action: "delivery_deleted",
      subject: { type: "delivery", id: row.id },
      details: { kind: row.kind },
    });
  });
}

/**
 * Sends what the preview shows, marked as a test, through the code that sends recordings: the newest recording that would be
 * sent and that the caller can see too, or a sample.
 */
export async function testDestination(
  deps: DeliveryServices,
  principal: Principal,
  row: DestinationRow,
): Promise<z.input<(typeof contract.testDestination)["response"]>> {
  const { hostLimit, config } = deps;
  const { email, ...known } = row.kind === "email" ? await findCaller(deps, principal) : nobody;
  const [newest] = await findCandidates(deps, principal, row.conditions, row.id);
  const example = await readExample(deps, row.workspace_id, newest?.id, known);
  const present = ({ ok, status, error, body, durationMs }: AttemptResponse) => ({
    recording: example.shown,
    ok,
    status,
    error,
    response: beginningOf(body),
    duration_ms: Math.round(durationMs),
  });
  if (row.kind === "markdown") return present(await writeTestFile(deps, row, example));
  const composed = composeMessage(example.reader, example, config.baseUrl, row.template);
  // The title of a sample says that it is one.
  const message = example.shown === null ? composed : markAsTest(composed);
  if (!isChat(row.kind)) return present(await sendTestEmail(deps, message, email));
  const waitMs = await hostLimit.take(row.hook_url);
  if (waitMs > 0)
    throw new ProblemError("rate_limited", because("host_busy_now"), {
      headers: { "retry-after": String(Math.max(1, Math.ceil(waitMs / 1000))) },
    });
  return present(await sendToChat(deps, { kind: row.kind, url: row.url }, message));
}

/** For chats and files, whose readers are not known. */
const nobody = { email: "", language: null, timeZone: null };

/** What is shown of a response. Receivers can send anything, and its sender needs the reason only. */
export function beginningOf(body: string): string {
  return body.slice(0, 2000).toWellFormed();
}

/** @throws ProblemError `wrong_state` for a workspace token, which has no email. */
async function findCaller({ db }: DeliveryServices, { scope, userId }: Principal) {
  if (scope === "workspace") throw new ProblemError("wrong_state", because("test_email_needs_user"));
  return db.kysely
    .selectFrom("users")
    .select(["email", "email_language as language", "email_time_zone as timeZone"])
    .where("id", "=", userId)
    .executeTakeFirstOrThrow();
}

/** Writes a file beside those of recordings, and removes it. */
async function writeTestFile(
  { db, store, config }: DeliveryServices,
  row: DestinationRow,
  example: Example,
): Promise<AttemptResponse> {
  const { shown, reader, recording } = example;
  const note = noteOf(reader, example, config.baseUrl, row, shown === null ? undefined : markAsTest);
  const path = `${folderKey(row)}${notePath(recording, reader.timeZone)}-test`;
  const owner = { hookId: row.id, recordingId: shown?.id ?? row.id, workspaceId: row.workspace_id };
  const startedAt = performance.now();
  try {
    const key = await tryFile({ pool: db.pool, store }, owner, path, note);
    const durationMs = performance.now() - startedAt;
    return { ...queued(sentenceOf("delivery_file_tried", { file: key })), durationMs };
  } catch (error) {
    return notSent(error instanceof Error ? error.message : String(error));
  }
}

/** Why a recording can't be sent again. */
const refusals = {
  suppressed:
    "the recording is `withheld`: it was deleted, or the delivery's owner can't see it or its conditions exclude it",
  deleted: "the recording can't be sent again: its event was deleted",
} as const;

/** Sends a recording again, as it is now. */
export async function resendAttempt(
  { db, jobs }: Pick<DeliveryServices, "db" | "jobs">,
  row: DestinationRow,
  messageId: string,
): Promise<void> {
  if (!isOn(row, new Date()))
    throw new ProblemError("wrong_state", because("delivery_disabled", { reason: disabledReason(row) }));
  await db.kysely.transaction().execute(async (tx) => {
    const outcome = await requeueDelivery(tx, row.id, messageId);
    if (outcome !== "done") throw new ProblemError("wrong_state", refusals[outcome]);
  });
  jobs.wake();
}
