import type { FastifyBaseLogger } from "fastify";
import { sentences } from "../../../../contract/sentences.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import { basicAuthorization } from "../../../platform/outbound/target.ts";
import { type TracedWork, traced } from "../../../platform/telemetry/trace.ts";
import type { HookRow } from "../api/queries.ts";
import { redactCredentials } from "../api/redact.ts";
import { decryptSecrets } from "../api/secrets.ts";
import type { DueDelivery } from "../deliveries/due.ts";
import type { HookHealth } from "../deliveries/leases.ts";
import type { DeliveryResult } from "../deliveries/save-results.ts";
import type { HostLimit } from "../transport/host-limit.ts";
import type { HookResponse, HookSender } from "../transport/send.ts";
import type { PreparedDelivery } from "./prepare.ts";
import { deadAfter, decide, isDeadFor, requestedPauseMs } from "./retry-policy.ts";

export interface AttemptDependencies {
  readonly sender: HookSender;
  readonly hostLimit: HostLimit;
  readonly encryptor: Encryptor;
  readonly clock: { now(): Date };
  /** Whether the system's clock has not jumped: a hook must not be disabled for five days that never passed. */
  readonly isClockTrusted: () => Promise<boolean>;
  readonly scheduleMs: readonly number[];
  readonly random: () => number;
  readonly log: Pick<FastifyBaseLogger, "error">;
}

/** However long a receiver asks to pause, the hook is tried again after an hour, because other deliveries wait too. */
const maxPauseMs = 3_600_000;

/** The attempts of one batch. */
export interface Attempts {
  /** Sends a delivery. @returns the result; null: nothing was tried, because of the host's limit or as the server stops. */
  make(prepared: PreparedDelivery): Promise<DeliveryResult | null>;
  /** False once an attempt has failed or the host's limit is reached. */
  mayContinue(): boolean;
  outcome(): {
    /** What the attempts mean for the hook. */
    readonly health: HookHealth;
    /** When the host may get requests again; null: its limit is not reached. */
    readonly hostFreeAt: Date | null;
    /** The last attempt that ended; undefined: there was none. */
    readonly last: LastAttempt | undefined;
  };
}

interface LastAttempt {
  readonly succeeded: boolean;
  readonly endedAt: Date;
}

/** What is known of the receiver since the batch began. */
export interface Receiver {
  readonly kind: keyof typeof deadAfter;
  failingSince: Date | null;
  last: LastAttempt | undefined;
  hasFailed: boolean;
  disable: string | undefined;
  pauseUntil: Date | undefined;
}

/** Sends deliveries of a hook and decides what each response means for the delivery and for the hook. */
export function createAttempts(deps: AttemptDependencies, hook: HookRow): Attempts {
  const { sender, hostLimit, clock } = deps;
  const secrets = decryptSecrets(deps, hook, clock.now());
  const receiver = newReceiver("webhook", hook);
  let hostFreeAt: Date | null = null;
  return {
    async make({ delivery, body, problem }) {
      const startedAt = clock.now();
      if (typeof secrets === "string" || body === null) {
        const response = notSent(typeof secrets === "string" ? secrets : problem);
        return conclude(deps, receiver, { delivery, body: null, response, startedAt });
      }
      const waitMs = await hostLimit.take(hook.hook_url);
      if (waitMs > 0) {
        hostFreeAt = new Date(clock.now().getTime() + waitMs);
        return null;
      }
      // These are kept in the log, so the Authorization header is not among them.
      const headers = secrets.sign(delivery.message_id, Math.floor(startedAt.getTime() / 1000), body);
      const { credentials } = secrets;
      const authorization = credentials === null ? {} : { authorization: basicAuthorization(credentials) };
      const received = await traced(
        () => workOf(hook, delivery),
        async (notes) => {
          const result = await sender.send({
            url: hook.hook_url,
            headers: { ...headers, ...authorization },
            body,
          });
          if (result.status !== null) notes.set({ "http.response.status_code": result.status });
          if (!result.ok) notes.fail(result.status === null ? "no response" : `status ${result.status}`);
          return result;
        },
      );
      // The server is stopping, which says nothing about the receiver: the delivery stays due.
      if (received.isStopped) return null;
      const response = redactCredentials(received, credentials);
      const signature = headers["webhook-signature"];
      return conclude(deps, receiver, { delivery, body, response, startedAt, signature });
    },
    mayContinue: () => hostFreeAt === null && !receiver.hasFailed,
    outcome: () => ({ health: healthOf(receiver, hook), hostFreeAt, last: receiver.last }),
  };
}

export function newReceiver(kind: Receiver["kind"], hook: Pick<HookRow, "failing_since">): Receiver {
  return {
    kind,
    failingSince: hook.failing_since,
    last: undefined,
    hasFailed: false,
    disable: undefined,
    pauseUntil: undefined,
  };
}

/** What the attempts mean for the hook. */
export function healthOf(
  { failingSince, disable, pauseUntil }: Receiver,
  hook: Pick<HookRow, "failing_since">,
): HookHealth {
  const isChanged = failingSince?.getTime() !== hook.failing_since?.getTime();
  return {
    ...(isChanged ? { failingSince } : {}),
    ...(disable === undefined ? {} : { disable }),
    ...(pauseUntil === undefined ? {} : { pauseUntil }),
  };
}

/** How a trace shows an attempt: the receiver's host only, because paths and queries often hold secrets. */
function workOf(hook: HookRow, delivery: DueDelivery): TracedWork {
  return {
    name: "webhook send",
    kind: "client",
    attributes: {
      "http.request.method": "POST",
      "server.address": URL.parse(hook.hook_url)?.hostname ?? "",
      "parley.hook_id": hook.id,
      "parley.event_type": delivery.event_type,
      "parley.webhook_id": delivery.message_id,
      "parley.attempt": delivery.attempts + 1,
    },
  };
}

/** The parts of a response that decide the result and are kept in the log. */
export type AttemptResponse = Pick<
  HookResponse,
  "ok" | "status" | "headers" | "body" | "error" | "durationMs"
>;

/** Instead of a response, if nothing could be sent. */
export function notSent(error: string | null): AttemptResponse {
  return { ok: false, status: null, headers: {}, body: "", error, durationMs: 0 };
}

/**
 * Whether a payload is kept, so that every attempt sends the same bytes. A story shows parts of several recordings, each of
 * which may be unshared or deleted meanwhile, so it is rendered for each attempt.
 */
function isKept(type: DueDelivery["event_type"]): boolean {
  return type !== "story_added" && type !== "story_updated";
}

/** Decides what a response means for the delivery and for the hook. */
export async function conclude(
  {
    clock,
    isClockTrusted,
    scheduleMs,
    random,
  }: Pick<AttemptDependencies, "clock" | "isClockTrusted" | "scheduleMs" | "random">,
  receiver: Receiver,
  made: {
    readonly delivery: DueDelivery;
    /** Null: nothing was sent. */
    readonly body: string | null;
    readonly response: AttemptResponse;
    readonly startedAt: Date;
    readonly signature?: string;
  },
): Promise<DeliveryResult> {
  const { delivery, response, startedAt } = made;
  const now = clock.now();
  const number = delivery.attempts + 1;
  const attempt = number - delivery.attempts_before;
  const decision = decide({ response, attempt, now, scheduleMs, random });
  receiver.last = { succeeded: decision.outcome === "delivered", endedAt: now };
  if (receiver.last.succeeded) receiver.failingSince = null;
  else {
    receiver.hasFailed = true;
    receiver.failingSince ??= startedAt;
    const pauseMs = Math.min(requestedPauseMs(response, now), maxPauseMs);
    if (pauseMs > 0) receiver.pauseUntil = new Date(now.getTime() + pauseMs);
    if (decision.outcome === "gone") receiver.disable = sentences.hook_gone;
    else {
      const { ms, reason } = deadAfter[receiver.kind];
      if (isDeadFor(receiver.failingSince, now, ms) && (await isClockTrusted())) receiver.disable = reason;
    }
  }
  return {
    id: delivery.id,
    state: decision.outcome === "retry" ? "pending" : decision.outcome,
    due_at: decision.outcome === "retry" ? decision.at : null,
    payload: delivery.payload === null && isKept(delivery.event_type) ? made.body : null,
    attempt: {
      number,
      started_at: startedAt,
      duration_ms: Math.round(response.durationMs),
      status: response.status,
      error: response.error,
      response: response.body,
      signature: made.signature ?? "",
    },
  };
}
