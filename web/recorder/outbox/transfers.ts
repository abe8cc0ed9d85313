import { t } from "@lingui/core/macro";
import type { QueryClient } from "@tanstack/react-query";
import { ApiError, isOutage } from "../../api/client/api-error.ts";
import { removeSent } from "../../uploads/sending/cancel-upload.ts";
import { saveMoments } from "./moments.ts";
import type { Outbox } from "./outbox.ts";
import { lockName, removeFolder } from "./pieces.ts";
import { transfer, UploadEndedError } from "./transfer.ts";

/** A recording on its way from this tab to the server. */
export interface TransferState {
  readonly uploadId: string;
  readonly title: string;
  /** recording: more follows. */
  readonly status: "recording" | "sending" | "failed";
  /** Bytes that the server has stored. */
  readonly sent: number;
  /** Bytes recorded so far. */
  readonly total: number;
  readonly isOffline: boolean;
  /** Why it failed. */
  readonly reason: (() => string) | null;
}

interface Task {
  readonly control: AbortController;
  readonly outbox: Outbox;
  readonly queryClient: QueryClient;
  /** Resolves when nothing is being sent. */
  ended: Promise<void>;
}

/** Delay before the highlighted moments are sent again. */
const retryMs = 5000;
const removeRetryMs = 200;

/** All transfers of this tab, which continue while the user visits other pages. */
export const transfers = createTransfers();

function createTransfers() {
  let states: readonly TransferState[] = [];
  const listeners = new Set<() => void>();
  const tasks = new Map<string, Task>();
  /** Functions that release the locks of the recordings that this tab works on. */
  const locks = new Map<string, () => Promise<unknown>>();

  const show = (next: readonly TransferState[]): void => {
    states = next;
    for (const listener of listeners) listener();
  };
  const change = (uploadId: string, values: Partial<TransferState>): void =>
    show(states.map((state) => (state.uploadId === uploadId ? { ...state, ...values } : state)));
  const release = async (uploadId: string): Promise<void> => {
    const unlock = locks.get(uploadId);
    locks.delete(uploadId);
    await unlock?.();
  };
  const forget = async (uploadId: string): Promise<void> => {
    tasks.delete(uploadId);
    // First of all: what is left of it is then offered again.
    await release(uploadId);
    show(states.filter((state) => state.uploadId !== uploadId));
  };

  /** @returns whether this tab has the lock; never false if it waits for other tabs to release it. */
  async function lock(uploadId: string, ifAvailable: boolean): Promise<boolean> {
    if (locks.has(uploadId)) return true;
    const taken = Promise.withResolvers<boolean>();
    const released = Promise.withResolvers<void>();
    const ended = navigator.locks.request(lockName(uploadId), { ifAvailable }, (granted) => {
      taken.resolve(granted !== null);
      return granted === null ? undefined : released.promise;
    });
    if (!(await taken.promise)) return false;
    locks.set(uploadId, () => {
      released.resolve();
      return ended;
    });
    return true;
  }

  async function run(
    uploadId: string,
    { control, outbox, queryClient }: Task,
    isStarted: boolean,
  ): Promise<void> {
    try {
      await lock(uploadId, false);
      await transfer(uploadId, outbox, {
        isStarted,
        signal: control.signal,
        onProgress: (progress) => change(uploadId, { ...progress, total: outbox.total() }),
      });
      // Browsers refuse to remove a folder while a file in it is being removed.
      await outbox.acknowledge(outbox.total());
      await removeFolder(uploadId);
      await forget(uploadId);
      await queryClient.invalidateQueries({ queryKey: ["uploads"] });
    } catch (error) {
      if (control.signal.aborted) return;
      // What the server lacks is offered as a file.
      if (error instanceof UploadEndedError) return await forget(uploadId);
      const reason = (): string => (error instanceof Error ? error.message : t`The upload failed.`);
      change(uploadId, { status: "failed", reason });
    }
  }

  return {
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    list: () => states,
    /**
     * Takes the recording's lock, so that no other tab offers to finish it. The tab holds it until all is sent, also after
     * a failure: the user may try again.
     */
    hold: (uploadId: string) => lock(uploadId, false),
    /** The same, unless another tab has the lock. @returns whether this tab has it. */
    claim: (uploadId: string) => lock(uploadId, true),
    release,
    /** Whether this tab is recording it. */
    isLive: (uploadId: string) => tasks.get(uploadId)?.outbox.isComplete() === false,
    /**
     * Begins to send.
     * @param options.isStarted whether the server may have a part already.
     */
    begin(
      { uploadId, title, outbox }: { uploadId: string; title: string; outbox: Outbox },
      options: { readonly isStarted: boolean; readonly queryClient: QueryClient },
    ): void {
      const fresh = { sent: 0, total: outbox.total(), isOffline: false, reason: null };
      show([
        ...states.filter((state) => state.uploadId !== uploadId),
        { uploadId, title, status: "recording", ...fresh },
      ]);
      const { queryClient } = options;
      const task: Task = { control: new AbortController(), outbox, queryClient, ended: Promise.resolve() };
      tasks.set(uploadId, task);
      task.ended = run(uploadId, task, options.isStarted);
    },
    /** Stops sending; what isn't sent stays in this browser. */
    async stopAll(): Promise<void> {
      for (const [uploadId, { control, ended }] of [...tasks]) {
        control.abort();
        await ended;
        await forget(uploadId);
      }
    },
    /** Sends a failed one again. */
    retry(uploadId: string): void {
      const task = tasks.get(uploadId);
      if (task === undefined) return;
      change(uploadId, { status: "sending", reason: null });
      task.ended = run(uploadId, task, true);
    },
    /** Nothing more is recorded: saves the highlighted moments, then lets the server know that the file is whole. */
    async finish(uploadId: string, moments: readonly number[]): Promise<void> {
      const task = tasks.get(uploadId);
      if (task === undefined) return;
      const isFailed = states.some((state) => state.uploadId === uploadId && state.status === "failed");
      change(uploadId, { ...(isFailed ? {} : { status: "sending" }), total: task.outbox.total() });
      while (moments.length > 0) {
        try {
          await saveMoments(uploadId, moments, task.outbox.endMs());
          break;
        } catch (error) {
          // What the server refuses now it refuses later; the recording is worth more than its highlights.
          if (!isOutage(error)) break;
          change(uploadId, { isOffline: true });
          await new Promise((resolve) => setTimeout(resolve, retryMs));
        }
      }
      task.outbox.complete();
    },
    /**
     * Stops sending and removes the recording from the server and from this browser.
     * @throws Error when the server can't be reached; the recording is then offered again on the next visit.
     */
    async discard(uploadId: string): Promise<void> {
      const task = tasks.get(uploadId);
      task?.control.abort();
      await task?.ended;
      try {
        await withRetries(() => removeSent(uploadId, true).catch(ignoreDeleted));
        await withRetries(() => removeFolder(uploadId));
      } finally {
        await forget(uploadId);
      }
      await task?.queryClient.invalidateQueries({ queryKey: ["uploads"] });
    },
  };
}

function ignoreDeleted(error: unknown): void {
  if (!(error instanceof ApiError && error.status === 404)) throw error;
}

/** Browsers refuse to remove a folder for a moment after a file in it was used. */
async function withRetries(action: () => Promise<unknown>): Promise<void> {
  for (let left = 5; ; left--) {
    try {
      await action();
      return;
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, removeRetryMs));
    }
  }
}
