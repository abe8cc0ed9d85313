import { setTimeout as wait } from "node:timers/promises";
import {
  type GuardedClient,
  OutboundError,
  type OutboundRequest,
  type OutboundResponse,
  readJson,
} from "../../../platform/outbound/guarded-client.ts";
import { ImportError, WaitError } from "./errors.ts";

/** Delays before retries after network errors and 5xx, about three minutes in total. */
const retryDelaysMs = [500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 60_000];
/** A longer Retry-After is shortened; the server then says it again. */
const maxRetryAfterMs = 600_000;
/** How often a rate limit is waited for in a row. */
const maxRateLimits = 200;
/** A transcript may take 12 MB. */
const maxJsonBytes = 16 * 1024 * 1024;
/** Longer responses, and those of unknown length, are read one at a time. */
const smallBytes = 1024 * 1024;
/** The end of the last long response that was read from a service. */
const lastReads = new WeakMap<GuardedClient, Promise<unknown>>();

/**
 * Sends a request until there is a response that says something about it: waits as long as `Retry-After` says, and
 * repeats after network errors and 5xx. All requests of imports may be repeated.
 * @throws ImportError when the service can't be reached, or isn't allowed to be; WaitError when it asks for a longer pause
 * than `maxHeldMs`.
 */
export async function requestPatiently(
  client: GuardedClient,
  request: PatientRequest,
): Promise<OutboundResponse> {
  let [failures, limits] = [0, 0];
  for (;;) {
    const outcome = await client.request(request).catch((error: Error) => {
      if (error instanceof OutboundError) return error;
      throw error;
    });
    if (!(outcome instanceof OutboundError)) {
      const isLimited = outcome.status === 429 || (outcome.status === 503 && retryAfterOf(outcome) !== null);
      if (!isLimited && outcome.status < 500) return outcome;
      outcome.body.destroy();
      if (isLimited && limits < maxRateLimits) {
        limits += 1;
        const waitMs = Math.min(retryAfterOf(outcome) ?? 5000, maxRetryAfterMs);
        if (waitMs > (request.maxHeldMs ?? maxRetryAfterMs)) throw new WaitError(waitMs);
        await pause(waitMs, request.signal);
        continue;
      }
    }
    const delay = retryDelaysMs[failures];
    if (delay === undefined || (outcome instanceof OutboundError && !outcome.isTemporary))
      throw new ImportError(
        outcome instanceof OutboundError ? outcome.message : `the service responds with ${outcome.status}`,
      );
    failures += 1;
    await pause(delay, request.signal);
  }
}

interface PatientRequest extends OutboundRequest {
  /** The longest pause that is waited for. */
  readonly maxHeldMs?: number;
}

/** The same for JSON of at most `maxBytes`. @returns the parsed body of a 2xx; otherwise the status alone. */
export async function requestJson(
  client: GuardedClient,
  request: PatientRequest,
  maxBytes = maxJsonBytes,
): Promise<{ readonly status: number; readonly json: unknown; readonly bytes: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await requestPatiently(client, request);
    if (response.status >= 300) {
      response.body.destroy();
      return { status: response.status, json: null, bytes: 0 };
    }
    try {
      return { status: response.status, ...(await readInTurn(client, response, maxBytes)) };
    } catch (error) {
      const isBroken = error instanceof OutboundError && error.isTemporary;
      if (!isBroken || attempt > 5)
        throw new ImportError(
          error instanceof SyntaxError
            ? "the service responds with something that is not JSON"
            : (error as Error).message,
        );
      await pause(1000 * attempt, request.signal);
    }
  }
}

/** Reads and parses a body: of one client's long bodies one at a time, which bounds the memory they take. */
async function readInTurn(
  client: GuardedClient,
  response: OutboundResponse,
  maxBytes: number,
): Promise<{ readonly json: unknown; readonly bytes: number }> {
  const read = () => readJson(response, maxBytes);
  if (Number(response.headers["content-length"] ?? Number.NaN) <= smallBytes) return read();
  const reading = (lastReads.get(client) ?? Promise.resolve()).then(read);
  lastReads.set(
    client,
    reading.catch(() => undefined),
  );
  return reading;
}

/** How long to wait in ms, from seconds or a date. Source: RFC 9110, section 10.2.3. */
function retryAfterOf({ headers }: OutboundResponse): number | null {
  const text = headers["retry-after"];
  if (typeof text !== "string") return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await wait(ms, undefined, signal === undefined ? {} : { signal });
}
