import type { FastifyBaseLogger } from "fastify";
import { sentences } from "../../../contract/sentences.ts";
import type { Config } from "../../platform/config/config.ts";
import { isConnectionError } from "../../platform/db/connection-errors.ts";
import type { Database } from "../../platform/db/database.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { type ObjectStore, StoreError } from "../../platform/storage/store.ts";
import { type DueDelivery, findDue } from "../webhooks/deliveries/due.ts";
import type { LeasedHook } from "../webhooks/deliveries/leases.ts";
import { type DeliveryResult, saveResults } from "../webhooks/deliveries/save-results.ts";
import {
  type AttemptDependencies,
  type AttemptResponse,
  conclude,
  healthOf,
  newReceiver,
  notSent,
} from "../webhooks/dispatch/attempt.ts";
import { pauseAfter, type SentBatch } from "../webhooks/dispatch/send-batch.ts";
import { isChat, sendToChat } from "./chat.ts";
import { composeMessage, readContent } from "./content.ts";
import { queued } from "./email.ts";
import { queueEmails } from "./email-job.ts";
import { type FileOwner, folderKey, removeFiles, writeFile } from "./files.ts";
import { readerOf } from "./message-reader.ts";
import { noteOf, notePath } from "./note.ts";
import { beginAttempt, findSendState, forgetRecording, type SendState } from "./queries.ts";
import { switchOff } from "./switch-off.ts";

export interface SendDependencies extends AttemptDependencies {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly config: Pick<Config, "baseUrl" | "smtp">;
  readonly log: FastifyBaseLogger;
}

/** Chats take about a message a second from an incoming webhook. */
const paceMs = 1000;

/** How soon to check again whether models have finished: soon after the recording came, later every half minute. */
const waitMs = { soon: 3000, later: 30_000, soonUntil: 300_000 } as const;

/** A recording is sent as it is when models have not finished by then. */
const maxWaitMs = 86_400_000;

/**
 * Sends the delivery that is due to a leased hook. Unlike webhooks, chats have no id by which a receiver drops what it has
 * already: before its request an attempt is noted, and one that ended without a result is not repeated but reported.
 */
export async function sendRecording(deps: SendDependencies, hook: LeasedHook): Promise<SentBatch> {
  const { db, clock } = deps;
  const [delivery] = await findDue(db.pool, hook.id, { now: clock.now(), limit: 1 });
  const nothing = { health: {}, notBefore: clock.now(), isResponding: undefined };
  if (delivery === undefined) return nothing;
  const state = await findSendState(db.pool, hook.id, delivery.id);
  if (state === undefined) return nothing;
  const save = (result: DeliveryResult): Promise<void> =>
    saveResults(db.pool, [result], clock.now(), { isDurable: true });
  const unsent = { id: delivery.id, payload: null, attempt: null };

  const hasBegun = state.begun_delivery === delivery.id && state.begun_attempt === delivery.attempts + 1;
  if (hasBegun && isChat(state.kind)) {
    await save(interruptedResult(delivery, clock.now()));
    return nothing;
  }
  const isWanted =
    state.is_present && state.is_visible && state.meets && (state.is_busy || state.has_content);
  if (!isWanted && !hasBegun) {
    if (state.kind === "markdown") await removeFiles({ pool: db.pool, store: deps.store }, ownerOf(state));
    await save({ ...unsent, state: "withheld", due_at: null });
    if (delivery.attempts === 0) await forgetRecording(db.pool, hook.id, state.recording_id);
    return nothing;
  }
  const waitedMs = clock.now().getTime() - state.waiting_since.getTime();
  if (state.is_busy && !hasBegun && waitedMs < maxWaitMs) {
    const ms = waitedMs < waitMs.soonUntil ? waitMs.soon : waitMs.later;
    await save({ ...unsent, state: "pending", due_at: new Date(clock.now().getTime() + ms) });
    return nothing;
  }
  return attemptOne(deps, hook, { state, delivery, hasBegun }, save);
}

/** A delivery that is to be sent now. */
interface Due {
  readonly state: SendState;
  readonly delivery: DueDelivery;
  /** Whether its emails were queued by a process that was killed before it had saved the result. */
  readonly hasBegun: boolean;
}

async function attemptOne(
  deps: SendDependencies,
  hook: LeasedHook,
  due: Due,
  save: (result: DeliveryResult) => Promise<void>,
): Promise<SentBatch> {
  const { clock, hostLimit } = deps;
  const { state, delivery } = due;
  const waitMs = isChat(state.kind) ? await hostLimit.take(hook.hook_url) : 0;
  if (waitMs > 0)
    return { health: {}, notBefore: new Date(clock.now().getTime() + waitMs), isResponding: undefined };
  const startedAt = clock.now();
  const response = await respond(deps, due);
  // The server is stopping during the request: the next one reports it.
  if (response === null) return { health: {}, notBefore: clock.now(), isResponding: undefined };
  const receiver = newReceiver("delivery", hook);
  await save(await conclude(deps, receiver, { delivery, body: null, response, startedAt }));
  const { disable, ...health } = healthOf(receiver, hook);
  if (disable !== undefined) await switchOff(deps, state, disable);
  const endedAt = receiver.last?.endedAt ?? clock.now();
  const pauseMs = receiver.hasFailed ? pauseAfter(hook, endedAt) : isChat(state.kind) ? paceMs : 0;
  return {
    health,
    notBefore: new Date(endedAt.getTime() + pauseMs),
    isResponding: !receiver.hasFailed,
  };
}

/** @returns null: the server is stopping. */
async function respond(
  deps: SendDependencies,
  { state, delivery, hasBegun }: Due,
): Promise<AttemptResponse | null> {
  const { db, config, log } = deps;
  if (hasBegun) return queued(sentences.delivery_queued);
  const attempt = {
    hookId: state.id,
    recordingId: state.recording_id,
    deliveryId: delivery.id,
    attempt: delivery.attempts + 1,
  };
  try {
    if (state.kind === "email") return await queueEmails(deps, attempt);
    const subject = { workspaceId: state.workspace_id, recordingId: state.recording_id };
    const parts = await readContent(db, config.baseUrl, subject);
    if (parts === undefined) return notSent(sentences.delivery_recording_gone);
    const { recording } = parts;
    const reader = await readerOf(db.kysely, { workspaceId: state.workspace_id, recording });
    if (state.kind === "markdown") {
      const path = folderKey(state) + notePath(recording, reader.timeZone);
      const startedAt = performance.now();
      const note = noteOf(reader, parts, config.baseUrl, state);
      const key = await writeFile({ pool: db.pool, store: deps.store }, ownerOf(state), path, note);
      return { ...queued(key), durationMs: performance.now() - startedAt };
    }
    await beginAttempt(db.kysely, attempt);
    const message = composeMessage(reader, parts, config.baseUrl, state.template);
    const response = await sendToChat(deps, { kind: state.kind, url: state.url }, message);
    return response.isStopped ? null : response;
  } catch (error) {
    // A lost database connection says nothing about the delivery.
    if (isConnectionError(error)) throw error;
    log.error({ err: error, deliveryId: delivery.message_id }, "could not send a recording");
    return notSent(error instanceof StoreError ? error.message : sentences.delivery_failed);
  }
}

function ownerOf(state: SendState): FileOwner {
  return { hookId: state.id, recordingId: state.recording_id, workspaceId: state.workspace_id };
}

function interruptedResult(delivery: DueDelivery, now: Date): DeliveryResult {
  return {
    id: delivery.id,
    state: "exhausted",
    due_at: null,
    payload: null,
    attempt: {
      number: delivery.attempts + 1,
      started_at: now,
      duration_ms: 0,
      status: null,
      error: sentences.delivery_interrupted,
      response: "",
      signature: "",
    },
  };
}
