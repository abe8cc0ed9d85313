import type { QueryClient } from "@tanstack/react-query";
import { ApiError, isOutage } from "../../api/client.ts";
import { removeSent } from "../../uploads/sending/cancel-upload.ts";
import { saveMoments } from "./moments.ts";
import type { Outbox } from "./outbox.ts";
import { lockName, removeFolder } from "./pieces.ts";
import { transfer } from "./transfer.ts";

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
  readonly reason: string | null;
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
  const locks = new Map<string, () => void>();

  const show = (next: readonly TransferState[]): void => {
    states = next;
    for (const listener of listeners) listener();
  };
  const change = (uploadId: string, values: Partial<TransferState>): void =>
    show(states.map((state) => (state.uploadId === uploadId ? { ...state, ...values } : state)));
  const release = (uploadId: string): void => {
    locks.get(uploadId)?.();
    locks.delete(uploadId);
  };
  const forget = (uploadId: string): void => {
    tasks.delete(uploadId);
    show(states.filter((state) => state.uploadId !== uploadId));
    release(uploadId);
  };

  async function hold(uploadId: string): Promise<void> {
    if (locks.has(uploadId)) return;
    const held = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    void navigator.locks.request(lockName(uploadId), () => {
      held.resolve();
      return released.promise;
    });
    await held.promise;
    locks.set(uploadId, released.resolve);
  }

  async function run(
    uploadId: string,
    { control, outbox, queryClient }: Task,
    isStarted: boolean,
  ): Promise<void> {
    try {
      await hold(uploadId);
      await transfer(uploadId, outbox, {
        isStarted,
        signal: control.signal,
        onProgress: (progress) => change(uploadId, { ...progress, total: outbox.total() }),
      });
      // Browsers refuse to remove a folder while a file in it is being removed.
      await outbox.acknowledge(outbox.total());
      await removeFolder(uploadId);
      forget(uploadId);
      await queryClient.invalidateQueries({ queryKey: ["uploads"] });
    } catch (error) {
      if (control.signal.aborted) return;
      const reason = error instanceof Error ? error.message : "The upload failed.";
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
    hold,
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
        forget(uploadId);
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
