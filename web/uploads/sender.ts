import type { QueryClient } from "@tanstack/react-query";
import { ApiError } from "../api/client.ts";
import { beginImport, beginUpload, findTarget } from "../api/uploads.ts";
import type { Verdict } from "./check-file.ts";
import { createSpeedometer } from "./speed.ts";
import { changeMemory, isSameFile, readMemory, type Unfinished } from "./unfinished.ts";

/** A file the person chose, until it has arrived. */
export interface Sending {
  readonly key: string;
  readonly file: File;
  readonly status:
    | "checking"
    | "refused"
    | "convertible"
    | "waiting"
    | "sending"
    | "paused"
    | "cut"
    | "failed";
  readonly verdict: Verdict | null;
  readonly willBeReviewed: boolean;
  readonly uploadId: string | null;
  /** Bytes. */
  readonly sent: number;
  readonly bytesPerSec: number | null;
  /** Why it failed. */
  readonly reason: string | null;
}

/** Sends files one after the other, a few at once; goes on while the person looks at other pages. */
export interface Sender {
  subscribe(listener: () => void): () => void;
  list(): readonly Sending[];
  add(files: readonly File[], options: { readonly willBeReviewed: boolean }): void;
  /** Sends a file although it has to be converted. */
  convert(key: string): void;
  pause(key: string): void;
  /** Goes on after a pause or a failure. */
  resume(key: string): void;
  /** Takes a file off the list; what has arrived of it is removed from the server. */
  remove(key: string): void;
}

/** More at once would only share the same line. */
const mostAtOnce = 2;

/** How long after a cut it is tried again, unless the browser says earlier that the line is back. */
const cutPauseMs = 10_000;

/** @param userId whose memory of unfinished files is kept. */
export function createSender(queryClient: QueryClient, userId: string): Sender {
  let items: readonly Sending[] = [];
  let count = 0;
  let cutTimer = 0;
  const listeners = new Set<() => void>();
  const running = new Map<string, AbortController>();

  const find = (key: string): Sending | undefined => items.find((item) => item.key === key);
  const show = (next: readonly Sending[]): void => {
    items = next;
    for (const listener of listeners) listener();
  };
  const change = (key: string, values: Partial<Sending>): void =>
    show(items.map((item) => (item.key === key ? { ...item, ...values } : item)));
  const forget = (uploadId: string | null): void =>
    changeMemory(userId, (before) => ({
      ...before,
      unfinished: before.unfinished.filter((known) => known.uploadId !== uploadId),
    }));

  async function check(key: string, file: File): Promise<void> {
    try {
      const { checkFile } = await import("./check-file.ts");
      const verdict = await checkFile(file);
      const { kind } = verdict;
      change(key, { verdict, status: kind === "refused" || kind === "convertible" ? kind : "waiting" });
    } catch {
      change(key, { status: "failed", reason: "The browser could not read this file. Choose it again." });
    }
    next();
  }

  function next(): void {
    for (const item of items) {
      if (running.size >= mostAtOnce) return;
      if (item.status !== "waiting" || running.has(item.key)) continue;
      const control = new AbortController();
      running.set(item.key, control);
      change(item.key, { status: "sending", reason: null, bytesPerSec: null });
      void run(item.key, control.signal).finally(() => {
        running.delete(item.key);
        next();
      });
    }
  }

  async function run(key: string, signal: AbortSignal): Promise<void> {
    try {
      await sendItem(key, signal);
      forget(find(key)?.uploadId ?? null);
      await queryClient.invalidateQueries({ queryKey: ["uploads"] });
      show(items.filter((item) => item.key !== key));
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.code === "unreachable") {
        change(key, { status: "cut", bytesPerSec: null });
        clearTimeout(cutTimer);
        cutTimer = window.setTimeout(goOnAfterCut, cutPauseMs);
        return;
      }
      const reason = error instanceof Error ? error.message : "The file could not be sent.";
      change(key, { status: "failed", reason, bytesPerSec: null });
    }
  }

  function goOnAfterCut(): void {
    for (const { key, status } of items) if (status === "cut") change(key, { status: "waiting" });
    next();
  }
  window.addEventListener("online", goOnAfterCut);

  async function sendItem(key: string, signal: AbortSignal): Promise<void> {
    const item = find(key);
    if (item?.verdict == null) return;
    const { file, verdict } = item;
    const title = file.name.replace(/\.[^.]+$/, "").slice(0, 500);
    if (verdict.kind === "transcript") {
      const { transcript } = verdict;
      const { speakersOf } = await import("./subtitles.ts");
      const participants = speakersOf(transcript.segments);
      await beginUpload({
        media_type: "transcript",
        auto_promote: !item.willBeReviewed,
        attributes: { title, transcript, participants },
      });
      return;
    }
    const isConverted = verdict.kind === "convertible";
    const [uploadId, target] = await findOrBegin(item, title);
    // Removed while the server was asked for a place.
    if (find(key) === undefined) return abandon(item, uploadId);
    change(key, { uploadId });
    if (target === null)
      throw new Error("The server does not wait for this file any more. Remove it and choose it again.");
    if (file.size > target.max_upload_bytes)
      throw new Error(`This server takes files of at most ${target.max_upload_bytes} bytes.`);
    const known = readMemory(userId).unfinished.find((one) => one.uploadId === uploadId);
    const remember = (sent: number): void =>
      changeMemory(userId, (before) => ({
        ...before,
        unfinished: [
          ...before.unfinished.filter((one) => one.uploadId !== uploadId),
          { uploadId, isConverted, name: file.name, size: file.size, lastModified: file.lastModified, sent },
        ],
      }));
    if (known === undefined) remember(-1);
    signal.throwIfAborted();
    const speed = createSpeedometer();
    const { sendFile } = await import("./send-file.ts");
    await sendFile(file, target.tus_url, {
      signal,
      isBegun: known !== undefined && known.sent >= 0,
      onArrived: remember,
      onProgress: (sent) => change(key, { sent, bytesPerSec: speed(sent) }),
    });
  }

  async function findOrBegin(item: Sending, title: string) {
    const { verdict, uploadId } = item;
    const isConverted = verdict?.kind === "convertible";
    if (uploadId !== null) return [uploadId, await findTarget(uploadId, isConverted)] as const;
    if (verdict?.kind === "convertible") {
      const { id, upload } = await beginImport(verdict.format, title);
      return [id, upload] as const;
    }
    if (verdict?.kind !== "media") throw new Error("Only media has a file to send.");
    const begun = await beginUpload({
      media_type: verdict.mediaType,
      auto_promote: !item.willBeReviewed,
      attributes: { title },
    });
    return [
      begun.id,
      begun.media !== undefined && "upload" in begun.media ? begun.media.upload : null,
    ] as const;
  }

  function abandon({ file, verdict }: Sending, uploadId: string): void {
    const isConverted = verdict?.kind === "convertible";
    void dropUpload(queryClient, userId, { uploadId, isConverted, name: file.name });
  }

  function findUnfinished(file: File): Unfinished | undefined {
    const taken = new Set(items.map(({ uploadId }) => uploadId));
    return readMemory(userId).unfinished.find(
      (known) => isSameFile(known, file) && !taken.has(known.uploadId),
    );
  }

  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    list: () => items,
    add(files, { willBeReviewed }) {
      for (const file of files) {
        count += 1;
        const key = String(count);
        const known = findUnfinished(file);
        const uploadId = known?.uploadId ?? null;
        const sent = Math.max(0, known?.sent ?? 0);
        show([
          ...items,
          {
            key,
            file,
            uploadId,
            sent,
            willBeReviewed,
            status: "checking",
            verdict: null,
            bytesPerSec: null,
            reason: null,
          },
        ]);
        void check(key, file).then(() => {
          if (known?.isConverted === true && find(key)?.status === "convertible") this.convert(key);
        });
      }
    },
    convert(key) {
      change(key, { status: "waiting" });
      next();
    },
    pause(key) {
      change(key, { status: "paused", bytesPerSec: null });
      running.get(key)?.abort();
    },
    resume(key) {
      change(key, { status: "waiting" });
      next();
    },
    remove(key) {
      const item = find(key);
      show(items.filter((one) => one.key !== key));
      running.get(key)?.abort();
      if (item?.uploadId != null) abandon(item, item.uploadId);
    },
  };
}

/** Gives an upload up: it leaves the person's list, and what has arrived leaves the server. */
export async function dropUpload(
  queryClient: QueryClient,
  userId: string,
  given: Pick<Unfinished, "uploadId" | "isConverted" | "name">,
): Promise<void> {
  const { uploadId } = given;
  const leaveList = (isLeft: boolean): void =>
    changeMemory(userId, ({ unfinished, dropped }) => ({
      unfinished: unfinished.filter((known) => known.uploadId !== uploadId),
      dropped: [...dropped.filter((id) => id !== uploadId), ...(isLeft ? [uploadId] : [])],
    }));
  leaveList(true);
  const { giveUp } = await import("./give-up.ts");
  if (!(await giveUp(given.name, uploadId, given.isConverted))) leaveList(false);
  await queryClient.invalidateQueries({ queryKey: ["uploads"] });
}

/** The words of a refusal, also where it was no answer of the server. */
export function wordsOf(error: unknown): string {
  if (error instanceof ApiError && error.violations.length > 0)
    return error.violations.map(({ detail }) => detail).join("; ");
  return error instanceof Error ? error.message : "Something went wrong.";
}
