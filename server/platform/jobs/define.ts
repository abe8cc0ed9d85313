import type { FastifyBaseLogger } from "fastify";
import type { RawBuilder } from "kysely";
import type { z } from "zod";
import type { Config } from "../config/config.ts";
import type { Encryptor } from "../crypto/encryptor.ts";
import type { Database, Tx } from "../db/database.ts";
import type { Localized } from "../language/i18n.ts";
import type { ObjectStore } from "../storage/store.ts";

/** The payload of each job by name. The file of a job adds its own, so that `enqueue` knows it wherever it is called. */
// biome-ignore lint/suspicious/noEmptyInterface: the files of the jobs extend it.
export interface JobPayloads {}

/** The name of a job that is enqueued. */
export type JobName = keyof JobPayloads;

/** The job queue, a table of the database. */
export interface JobQueue {
  /** Every kind of job, by name. */
  readonly kinds: ReadonlyMap<string, Job>;
  /**
   * Enqueues a job with the transaction: it exists exactly when the transaction commits.
   * @param key at most one job with this key waits or runs. One that was stopped starts again, and one that runs does as
   *   its `whileRunning` says.
   */
  enqueue<N extends JobName>(tx: Tx, name: N, data: JobPayloads[N], key: string): Promise<void>;
  /** Hints to this process's pump that there is work; called after the commit. Other processes find it by polling. */
  wake(): void;
  /** Registers a listener for these hints. */
  onWake(listener: () => void): void;
}

/** What a job works with. */
export interface JobContext {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly store: ObjectStore;
  readonly config: Config;
  readonly encryptor: Encryptor;
  readonly log: FastifyBaseLogger;
  /** The clock of webhooks; tests have their own, and with it the worker never sleeps. */
  readonly clock?: { now(): Date };
}

/** What a running job works with. The signal aborts when the server stops, or the job has taken too long. */
export interface RunContext extends JobContext {
  readonly signal: AbortSignal;
}

/** What a job is about, in the audit log and on the System page. */
type JobSubject =
  | "upload"
  | "recording"
  | "clip"
  | "personal_data_erasure"
  | "mail"
  | "password_reset"
  | "access_request"
  | "speech_model"
  | "import_run"
  | "connection_event"
  | "installation";

/** A row of an owner query: whose work a job is. */
export interface JobOwner {
  readonly workspace_id: string;
  readonly user_id: string;
}

/** Intervals, as in `10 min`. `sweep`: the setting PARLEY_SWEEP_INTERVAL, a minute by default. */
type Interval = "sweep" | `${number} ${"s" | "min" | "h" | "d"}`;

/**
 * Where a job must not run. `original`: not in a restored copy that no operator has accepted. `age`: the same, and only
 * while the clock is trusted; for what deletes or ends something because it is old.
 */
export type Guard = "original" | "age";

/** What an admin ends by discarding a failed job. */
export interface Discard {
  /** What is lost, for the System page. */
  readonly lost: Localized;
  /**
   * Ends the job's subject, in the transaction that removes the job.
   * @returns work for after the commit.
   */
  end?(
    tx: Tx,
    context: Pick<JobContext, "jobs" | "store">,
    key: string,
  ): Promise<(() => Promise<void>) | null>;
}

/** What jobs have in common. */
interface Common {
  readonly name: string;
  /** For the System page and notifications: a verb and a noun. */
  readonly label: Localized;
  /** Whether this installation has such jobs; default: always. */
  isEnabled?(config: Config): boolean;
  readonly guard?: Guard;
  /** An attempt that takes longer counts as failed; default: 12 hours, longer than any job may take. */
  readonly timeout?: Exclude<Interval, "sweep">;
  /** How often it is tried again before it is stopped and waits for an admin; default: without a limit. */
  readonly retries?: number;
}

/** A job that requests and other jobs enqueue. */
export interface QueuedJob<N extends JobName = JobName> extends Common {
  readonly name: N;
  readonly schema: z.ZodType<JobPayloads[N]>;
  readonly subject: JobSubject;
  /** A query for the user it works for, so that users and workspaces share the slots; null: for nobody in particular. */
  readonly owner: ((data: JobPayloads[N]) => RawBuilder<JobOwner>) | null;
  /** How many run concurrently in a process, for all owners together. */
  readonly concurrency: number;
  /** Whether users who have none running may start one although all slots are busy (`reservedSlots`). For long jobs. */
  readonly hasReservedSlots?: boolean | ((config: Config) => boolean);
  /**
   * What becomes of a request while it runs. `ignored`, the default: the run does what is asked for. `repeated`: it runs
   * once more, since a run that is about to end may have looked before the request.
   */
  readonly whileRunning?: "ignored" | "repeated";
  /** Whether none may start for now. */
  isPaused?(config: Config): Promise<boolean>;
  /** What discarding it ends; a text: why it can't be discarded. */
  readonly discard: Discard | string;
  /** Starts its subject again when an admin retries a failed job that has left the queue, before it is enqueued. */
  restart?(tx: Tx, key: string): Promise<JobPayloads[N]>;
  handler(context: RunContext, data: JobPayloads[N]): Promise<void>;
}

/** What a recurring job may return. */
export interface Again<State extends object = object> {
  /** Doesn't run it again before this has passed. */
  readonly pauseMs?: number;
  /** What to pass to it then. */
  readonly state?: State;
}

type Times =
  | { readonly every: Interval; readonly at?: never }
  | {
      /** The time of day in the time zone of the server, `03:00`. */
      readonly at: string | ((config: Config) => string);
      readonly every?: never;
    };

/** A job that runs by the clock: once over all processes, and remembered over restarts. It first runs at once. */
export type RecurringJob<State extends object = object> = Common &
  Times & {
    /** Of what it returned; default: nothing is kept. */
    readonly schema?: z.ZodType<State>;
    // biome-ignore lint/suspicious/noConfusingVoidType: most handlers return nothing.
    handler(context: RunContext, state: State): Promise<Again<State> | void>;
  };

/** A job of either kind, ready to run. */
export interface Job {
  readonly name: string;
  readonly label: Localized;
  readonly subject: JobSubject;
  readonly guard: Guard | null;
  readonly concurrency: number;
  readonly discard: Discard | string;
  readonly timeoutMs: number;
  readonly retries: number | null;
  readonly isRecurring: boolean;
  readonly whileRunning: "ignored" | "repeated";
  isEnabled(config: Config): boolean;
  hasReservedSlots(config: Config): boolean;
  isPaused(config: Config): Promise<boolean>;
  owner(data: unknown): RawBuilder<JobOwner> | null;
  /** Null unless it can be restarted. */
  restart: ((tx: Tx, key: string) => Promise<object>) | null;
  /** Milliseconds until its next time; null: it doesn't recur. */
  msUntilNext(config: Config, now: Date): number | null;
  run(context: RunContext, data: unknown): Promise<Again | null>;
}

const unitMs = { s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function toMs(interval: Exclude<Interval, "sweep">): number {
  const [count, unit] = interval.split(" ");
  return Number(count) * unitMs[unit as keyof typeof unitMs];
}

/**
 * Longer than any job may take: rendering takes ten hours at most (media/render), plus fetching and storing the files.
 */
export const defaultTimeoutMs = 12 * unitMs.h;

/** A longer timer would end at once. */
const maxTimeoutMs = 2 ** 31 - 1;

/** Defines a job that is enqueued. List it in `server/jobs.ts`. */
export function defineJob<N extends JobName>(job: QueuedJob<N>): Job {
  const { hasReservedSlots = false, isPaused, owner, restart } = job;
  return {
    ...commonOf(job),
    subject: job.subject,
    concurrency: job.concurrency,
    discard: job.discard,
    isRecurring: false,
    whileRunning: job.whileRunning ?? "ignored",
    hasReservedSlots: (config) =>
      typeof hasReservedSlots === "boolean" ? hasReservedSlots : hasReservedSlots(config),
    isPaused: async (config) => (await isPaused?.(config)) ?? false,
    owner: (data) => owner?.(job.schema.parse(data)) ?? null,
    restart: restart ?? null,
    msUntilNext: () => null,
    async run(context, data) {
      await job.handler(context, job.schema.parse(data));
      return null;
    },
  };
}

/** Defines a job that runs by the clock. List it in `server/jobs.ts`. */
export function defineRecurringJob<State extends object = object>(job: RecurringJob<State>): Job {
  return {
    ...commonOf(job),
    subject: "installation",
    concurrency: 1,
    discard: "a recurring job runs again at its next time; it can only be retried",
    isRecurring: true,
    whileRunning: "ignored",
    hasReservedSlots: () => false,
    isPaused: async () => false,
    owner: () => null,
    restart: null,
    msUntilNext: (config, now) =>
      job.every === undefined
        ? msUntilTimeOfDay(typeof job.at === "string" ? job.at : job.at(config), now)
        : msUntilMultiple(job.every === "sweep" ? config.sweepIntervalMs : toMs(job.every), now),
    run: async (context, state) =>
      (await job.handler(context, job.schema === undefined ? ({} as State) : job.schema.parse(state))) ??
      null,
  };
}

function commonOf({ name, label, guard, timeout, retries, isEnabled }: Common) {
  const timeoutMs = timeout === undefined ? defaultTimeoutMs : toMs(timeout);
  if (timeoutMs > maxTimeoutMs) throw new Error(`the timeout of the job ${name} is longer than 24 days`);
  return {
    name,
    label,
    guard: guard ?? null,
    timeoutMs,
    retries: retries ?? null,
    isEnabled: isEnabled ?? (() => true),
  };
}

/** Jobs of the same interval are due together, so that a worker that sleeps wakes once for all of them. */
function msUntilMultiple(intervalMs: number, now: Date): number {
  return intervalMs - (now.getTime() % intervalMs);
}

function msUntilTimeOfDay(time: string, now: Date): number {
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  const next = new Date(now);
  next.setHours(hours, minutes, 0, 0);
  if (next <= now) next.setDate(next.getDate() + 1);
  return next.getTime() - now.getTime();
}
