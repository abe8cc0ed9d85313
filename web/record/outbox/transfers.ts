import type { QueryClient } from "@tanstack/react-query";
import { isOutage } from "../../api/client.ts";
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
}

/** Delay before the highlighted moments are sent again. */
const retryMs = 5000;

/** All transfers of this tab, which continue while the user visits other pages. */
export const transfers = createTransfers();

function createTransfers() {
  let states: readonly TransferState[] = [];
  const listeners = new Set<() => void>();
  const running = new Map<string, Task>();

  const show = (next: readonly TransferState[]): void => {
    states = next;
    for (const listener of listeners) listener();
  };
  const change = (uploadId: string, values: Partial<TransferState>): void =>
    show(states.map((state) => (state.uploadId === uploadId ? { ...state, ...values } : state)));
  const forget = (uploadId: string): void => show(states.filter((state) => state.uploadId !== uploadId));

  async function run(
    uploadId: string,
    { control, outbox }: Task,
    { isStarted, queryClient }: { readonly isStarted: boolean; readonly queryClient: QueryClient },
  ): Promise<void> {
    try {
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
      if (control.signal.aborted) return forget(uploadId);
      const reason = error instanceof Error ? error.message : "The upload failed.";
      change(uploadId, { status: "failed", reason });
    } finally {
      running.delete(uploadId);
    }
  }

  return {
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    list: () => states,
    /**
     * Begins to send. The tab holds the recording's lock meanwhile, so that no other tab offers to finish it.
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
      const task = { control: new AbortController(), outbox };
      running.set(uploadId, task);
      void navigator.locks.request(lockName(uploadId), () => run(uploadId, task, options));
    },
    /** Nothing more is recorded: saves the highlighted moments, then lets the server know that the file is whole. */
    async finish(uploadId: string, moments: readonly number[]): Promise<void> {
      const task = running.get(uploadId);
      if (task === undefined) return;
      change(uploadId, { status: "sending", total: task.outbox.total() });
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
    /** Stops sending and removes the recording from this browser. */
    async discard(uploadId: string): Promise<void> {
      running.get(uploadId)?.control.abort();
      forget(uploadId);
      await removeFolder(uploadId);
    },
  };
}
