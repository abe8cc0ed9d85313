import { t } from "@lingui/core/macro";
import type { QueryClient } from "@tanstack/react-query";
import { createChunkSize } from "../../../shared/files/chunk-size.ts";
import { titleOfPath } from "../../../shared/files/recording-title.ts";
import { ApiError, ShownError } from "../../api/client/api-error.ts";
import { findTarget, saveImportNotes, saveUpload, startImport, startUpload } from "../../api/uploads.ts";
import { bytes } from "../../common/format/bytes.ts";
import { loadPart, PartNotLoadedError } from "../../common/load-part.tsx";
import type { FileCheck, ShownText } from "../file-check/check-file.ts";
import type { FileWithTexts, Texts } from "../file-check/texts.ts";
import { createSpeedometer } from "./speed.ts";
import { taskName } from "./task-name.ts";
import { changeMemory, isSameUpload, readMemory, type Unfinished } from "./upload-memory.ts";

/** A chosen file, or several that are joined, until the upload is complete. */
export interface UploadTask {
  readonly key: string;
  /** What is sent. */
  readonly file: File;
  /** The files that are joined to one recording, in their order; null: a single file. */
  readonly parts: readonly File[] | null;
  /** Null: the name of the file. */
  readonly title: string | null;
  /** The transcript and chat that are sent with it. */
  readonly texts: Texts | null;
  readonly status:
    | "checking"
    | "refused"
    | "waiting"
    | "sending"
    | "paused"
    | "disconnected"
    | "failed"
    | "sent";
  readonly check: FileCheck | null;
  readonly willBeReviewed: boolean;
  /** A language code or `auto`. */
  readonly spokenLanguage: string;
  readonly uploadId: string | null;
  /** Bytes. */
  readonly sent: number;
  readonly bytesPerSec: number | null;
  /** Why it failed. */
  readonly reason: ShownText | null;
  /** Whether it failed because code of the app is missing, which only reloading the page helps. */
  readonly needsReload: boolean;
}

/** What could not be read of the texts of a task, and what was assumed. */
export function warningsOf({ check, texts }: UploadTask): readonly ShownText[] {
  return [...(check?.kind === "transcript" ? check.warnings : []), ...(texts?.warnings ?? [])];
}

/** Code that is only needed once files are chosen. */
const loadCheck = loadPart(() => import("../file-check/check-file.ts"));
const loadTexts = loadPart(() => import("../file-check/texts.ts"));
const loadSubtitles = loadPart(() => import("../../../shared/transcripts/subtitles.ts"));
const loadTimeInName = loadPart(() => import("../../../shared/times/time-in-name.ts"));
const loadSendFile = loadPart(() => import("./send-file.ts"));

/** How files become recordings. */
interface Options {
  readonly willBeReviewed: boolean;
  readonly spokenLanguage: string;
}

/** Uploads files from a queue, and keeps going while the user visits other pages. */
export interface Sender {
  subscribe(listener: () => void): () => void;
  list(): readonly UploadTask[];
  /** Each media file becomes a recording, with the transcript and chat that have its name. */
  add(files: readonly File[], options: Options): Promise<void>;
  /** Several files become one recording. */
  join(files: readonly File[], title: string, options: Options): void;
  pause(key: string): void;
  /** Resumes after a pause or an error. */
  resume(key: string): void;
  /** Removes a file from the list, and its uploaded data from the server. */
  remove(key: string): void;
}

/** More would only share the same bandwidth. */
const maxConcurrent = 2;

/** Delay before reconnecting, unless the browser comes online earlier. */
const reconnectMs = 10_000;

/** @param userId the user whose unfinished uploads are remembered. */
export function createSender(queryClient: QueryClient, userId: string): Sender {
  let items: readonly UploadTask[] = [];
  let count = 0;
  let resumeTimer = 0;
  const listeners = new Set<() => void>();
  const running = new Map<string, AbortController>();
  const chunkSize = createChunkSize();

  const find = (key: string): UploadTask | undefined => items.find((item) => item.key === key);
  const show = (next: readonly UploadTask[]): void => {
    items = next;
    for (const listener of listeners) listener();
  };
  const change = (key: string, values: Partial<UploadTask>): void =>
    show(items.map((item) => (item.key === key ? { ...item, ...values } : item)));
  const forget = (uploadId: string | null): void =>
    changeMemory(userId, (before) => ({
      ...before,
      unfinished: before.unfinished.filter((known) => known.uploadId !== uploadId),
    }));

  async function inspect(key: string, given: FileWithTexts, options: Options): Promise<void> {
    try {
      const { checkFile } = await loadCheck();
      const check = await checkFile(given.file);
      const status = check.kind === "refused" ? "refused" : "waiting";
      if (textsOf(given).length === 0) change(key, { check, status });
      else {
        const { readTexts } = await loadTexts();
        const { texts, refused } = await readTexts(given);
        for (const one of refused) queue([{ file: one.file, check: one.check, status: "refused" }], options);
        change(key, { check, status, texts });
      }
    } catch (error) {
      change(
        key,
        failureOf(error, () => t`Couldn't read this file. Choose it again.`),
      );
    }
    next();
  }

  function next(): void {
    for (const item of items) {
      if (running.size >= maxConcurrent) return;
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
      const item = find(key);
      // What could not be read stays on the page until the user has seen it.
      if (item !== undefined && warningsOf(item).length > 0) change(key, { status: "sent", uploadId: null });
      else show(items.filter((one) => one.key !== key));
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.code === "unreachable") {
        change(key, { status: "disconnected", bytesPerSec: null });
        clearTimeout(resumeTimer);
        resumeTimer = window.setTimeout(resumeAfterDisconnect, reconnectMs);
        return;
      }
      const reason = (): string => (error instanceof Error ? error.message : t`The upload failed.`);
      change(key, { ...failureOf(error, reason), bytesPerSec: null });
    }
  }

  function resumeAfterDisconnect(): void {
    for (const { key, status } of items) if (status === "disconnected") change(key, { status: "waiting" });
    next();
  }
  window.addEventListener("online", resumeAfterDisconnect);

  async function sendItem(key: string, signal: AbortSignal): Promise<void> {
    const item = find(key);
    if (item?.check == null) return;
    const { file, check } = item;
    if (check.kind === "transcript") {
      const { transcript } = check;
      const [{ speakersOf }, { timeInName }] = await Promise.all([loadSubtitles(), loadTimeInName()]);
      const participants = speakersOf(transcript.segments);
      const start = timeInName(file.name);
      const isPast = start !== undefined && start <= Date.now();
      await startUpload({
        media_type: "transcript",
        auto_promote: !item.willBeReviewed,
        attributes: {
          title: titleOfPath(file.name),
          transcript,
          participants,
          ...(isPast ? { start_datetime: new Date(start).toISOString() } : {}),
        },
      });
      return;
    }
    const [uploadId, target] = await findOrCreate(item);
    // Removed while the upload was being created.
    if (find(key) === undefined) return abandon(item, uploadId);
    // From here on the server has the texts.
    change(key, { uploadId, texts: item.texts && { ...item.texts, transcript: null, notes: null } });
    if (target === null)
      throw new ShownError(() => t`This upload has expired. Remove it and choose the file again.`);
    if (file.size > target.max_upload_bytes)
      throw new ShownError(() => {
        const limit = bytes(target.max_upload_bytes);
        return t`This file is too large. The server's limit is ${limit}.`;
      });
    const known = readMemory(userId).unfinished.find((one) => one.uploadId === uploadId);
    const remember = (sent: number): void =>
      changeMemory(userId, (before) => ({
        ...before,
        unfinished: [
          ...before.unfinished.filter((one) => one.uploadId !== uploadId),
          {
            uploadId,
            isConverted: isImport(uploadId),
            name: file.name,
            size: file.size,
            lastModified: file.lastModified,
            sent,
            ...(item.parts === null
              ? {}
              : { parts: item.parts.map(identityOf), title: item.title ?? titleOfPath(file.name) }),
          },
        ],
      }));
    if (known === undefined) remember(-1);
    signal.throwIfAborted();
    const speed = createSpeedometer();
    const { sendFile, sourceOf } = await loadSendFile();
    await sendFile(sourceOf(file), target.tus_url, {
      signal,
      chunkSize,
      isStarted: known !== undefined && known.sent >= 0,
      onArrived: remember,
      onProgress: (sent) => change(key, { sent, bytesPerSec: speed(sent) }),
    });
  }

  async function findOrCreate(item: UploadTask) {
    const { check, uploadId, file, parts, texts, willBeReviewed, spokenLanguage } = item;
    if (uploadId !== null) {
      const target = await findTarget(uploadId, isImport(uploadId));
      if (target !== null) await addTexts(uploadId, texts);
      return [uploadId, target] as const;
    }
    if (check === null) throw new Error("only media has a file to upload");
    const { id, upload } = await startImport(
      {
        name: file.name.slice(-1000),
        modified_datetime: new Date(file.lastModified).toISOString(),
        time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        // A file with several audio tracks waits for its review.
        audio_tracks: "ask",
        ...(parts === null ? {} : { parts: parts.map(({ size }) => ({ bytes: size })) }),
      },
      item.title,
      {
        source: "upload",
        spoken_language: spokenLanguage,
        auto_promote: !willBeReviewed,
        ...(texts?.transcript ? { transcript: texts.transcript, participants: [...texts.participants] } : {}),
        ...(texts?.notes ? { notes: texts.notes } : {}),
      },
    );
    return [id, upload] as const;
  }

  /** The texts may have been chosen only when the upload was resumed. */
  async function addTexts(uploadId: string, texts: Texts | null): Promise<void> {
    if (texts?.transcript) await saveUpload(uploadId, { transcript: texts.transcript });
    if (texts?.notes && isImport(uploadId)) await saveImportNotes(uploadId, texts.notes);
  }

  /** Files that earlier versions of this page began to upload may be no imports. */
  function isImport(uploadId: string): boolean {
    return readMemory(userId).unfinished.find((one) => one.uploadId === uploadId)?.isConverted ?? true;
  }

  function abandon(item: UploadTask, uploadId: string): void {
    const isConverted = isImport(uploadId);
    void abandonUpload(queryClient, userId, { uploadId, isConverted, name: taskName(item) });
  }

  function findUnfinished(file: File, parts: readonly File[] | null): Unfinished | undefined {
    const taken = new Set(items.map(({ uploadId }) => uploadId));
    return readMemory(userId).unfinished.find(
      (known) => isSameUpload(known, file, parts) && !taken.has(known.uploadId),
    );
  }

  /** Adds files to the queue. @returns their keys. */
  function queue(
    added: readonly (Pick<UploadTask, "file" | "status" | "check"> & Partial<UploadTask>)[],
    { willBeReviewed, spokenLanguage }: Options,
  ): string[] {
    return added.map((given) => {
      count += 1;
      const known = findUnfinished(given.file, given.parts ?? null);
      const key = String(count);
      const task: UploadTask = {
        key,
        parts: null,
        title: null,
        texts: null,
        uploadId: known?.uploadId ?? null,
        sent: Math.max(0, known?.sent ?? 0),
        bytesPerSec: null,
        reason: null,
        needsReload: false,
        ...{ willBeReviewed, spokenLanguage },
        ...given,
      };
      show([...items, task]);
      return key;
    });
  }

  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    list: () => items,
    async add(files, options) {
      let given: FileWithTexts[];
      try {
        given = await withTexts(files);
      } catch (error) {
        const failure = failureOf(error, () => t`Couldn't read these files. Choose them again.`);
        queue(
          files.map((file) => ({ file, check: null, ...failure })),
          options,
        );
        return;
      }
      const keys = queue(
        given.map((one) => ({ file: one.file, texts: unread(one), status: "checking", check: null })),
        options,
      );
      for (const [index, one] of given.entries()) void inspect(keys[index] ?? "", one, options);
    },
    join(parts, title, options) {
      const file = new File([...parts], parts[0]?.name ?? "", {
        lastModified: Math.max(...parts.map(({ lastModified }) => lastModified)),
      });
      const check: FileCheck = {
        kind: "convertible",
        reason: () => t`We'll join these files to one recording.`,
      };
      queue([{ file, parts, title, check, status: "waiting" }], options);
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

/** The chosen files with the texts that belong to them. */
async function withTexts(files: readonly File[]): Promise<FileWithTexts[]> {
  // A single file is queued at once.
  const alone = files.map((file) => ({ file, transcript: null, chat: null }));
  if (files.length < 2) return alone;
  return (await loadTexts()).pairFiles(files);
}

/** The transcript and chat of a file. */
function textsOf({ transcript, chat }: FileWithTexts): readonly File[] {
  return [transcript, chat].filter((file) => file !== null);
}

/** The texts of a file before they are read; null without any. */
function unread(given: FileWithTexts): Texts | null {
  const files = textsOf(given);
  return files.length === 0 ? null : { transcript: null, notes: null, participants: [], warnings: [], files };
}

/** How a task failed. @param reason unless code of the app could not be loaded. */
function failureOf(error: unknown, reason: ShownText): Pick<UploadTask, "status" | "reason" | "needsReload"> {
  const needsReload = error instanceof PartNotLoadedError;
  const text: ShownText = () =>
    t`You may be offline, or Parley was updated. Reload the page, then choose the file again.`;
  return { status: "failed", reason: needsReload ? text : reason, needsReload };
}

function identityOf({ name, size, lastModified }: File): Pick<File, "name" | "size" | "lastModified"> {
  return { name, size, lastModified };
}

/** Cancels an upload: removes it from the user's list, and its data from the server. */
export async function abandonUpload(
  queryClient: QueryClient,
  userId: string,
  given: Pick<Unfinished, "uploadId" | "isConverted" | "name">,
): Promise<void> {
  const { uploadId } = given;
  const setDropped = (isDropped: boolean): void =>
    changeMemory(userId, ({ unfinished, dropped }) => ({
      unfinished: unfinished.filter((known) => known.uploadId !== uploadId),
      dropped: [...dropped.filter((id) => id !== uploadId), ...(isDropped ? [uploadId] : [])],
    }));
  setDropped(true);
  const { cancelUpload } = await import("./cancel-upload.ts");
  if (!(await cancelUpload(given.name, uploadId, given.isConverted))) setDropped(false);
  await queryClient.invalidateQueries({ queryKey: ["uploads"] });
}
