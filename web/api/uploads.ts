import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import {
  getImport,
  type Import,
  type ImportInput,
  importRecording,
  updateImport,
} from "../../contract/uploads/imports.ts";

import {
  createUpload,
  getUpload,
  listUploads,
  promoteUpload,
  type Upload,
  type UploadAttributesInput,
  updateUpload,
} from "../../contract/uploads/uploads.ts";
import { ApiError } from "./client/api-error.ts";
import { call } from "./client/call.ts";
import { loadCauseTexts } from "./client/cause-texts.ts";

export type UploadBody = z.output<typeof Upload>;
export type AttributesInput = z.input<typeof UploadAttributesInput>;
export type TranscriptBody = NonNullable<AttributesInput["transcript"]>;

type UploadPage = z.output<(typeof listUploads)["response"]>;

/** Whether an upload can change state without the user. */
export function isInProgress({ status, auto_promote }: UploadBody): boolean {
  return (
    status === "initial" ||
    status === "awaiting" ||
    status === "processing" ||
    status === "promoting" ||
    (status === "staged" && auto_promote)
  );
}

/** Milliseconds until the next poll: short after a change, growing while nothing happens. */
function refetchDelayMs(moving: readonly UploadBody[]): number | false {
  if (moving.length === 0) return false;
  const changed = Math.max(...moving.map(({ updated_datetime }) => Date.parse(updated_datetime)));
  return Math.min(15_000, Math.max(1000, (Date.now() - changed) / 8));
}

/** The user's uploads, newest first; polled while any is in progress. */
export const uploadsQuery = infiniteQueryOptions({
  queryKey: ["uploads", "list"],
  staleTime: 0,
  initialPageParam: null as string | null,
  getNextPageParam: (last: UploadPage) => last.cursor,
  queryFn: async ({ pageParam, signal }): Promise<UploadPage> => {
    const body = pageParam === null ? {} : { cursor: pageParam };
    const page = await call(listUploads, { signal, body });
    return { ...page, uploads: await Promise.all(page.uploads.map(readable)) };
  },
  refetchInterval: ({ state }) =>
    refetchDelayMs((state.data?.pages ?? []).flatMap((page) => page.uploads).filter(isInProgress)),
});

/** An upload whose failure is in the reader's language. */
async function readable<T extends { failure?: UploadBody["failure"] | null }>(upload: T): Promise<T> {
  const { failure } = upload;
  if (failure === undefined || failure === null) return upload;
  const reason = (await loadCauseTexts())?.failureText(failure.causes, failure.reason) ?? failure.reason;
  return { ...upload, failure: { ...failure, reason } };
}

/** One upload with everything that can be reviewed. */
export function uploadQuery(uploadId: string) {
  return queryOptions({
    queryKey: ["uploads", "one", uploadId],
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const body = { include: { attributes: true, transcript: true } };
      return readable(await call(getUpload, { params: { upload_id: uploadId }, signal, body }));
    },
    refetchInterval: ({ state }) =>
      state.data === undefined ? false : refetchDelayMs([state.data].filter(isInProgress)),
  });
}

/** Creates an upload. @throws ApiError when the server refuses it. */
export function startUpload(input: {
  media_type: "video" | "audio" | "transcript";
  auto_promote: boolean;
  attributes: AttributesInput;
}): Promise<UploadBody> {
  return call(createUpload, { body: input });
}

/** Creates an upload of a file that the server converts if needed. */
export function startImport(
  media: NonNullable<z.input<typeof ImportInput>["media"]>,
  title: string | null,
  details: Pick<
    z.input<typeof ImportInput>,
    | "source"
    | "participants"
    | "meeting_type_id"
    | "calendar_event"
    | "spoken_language"
    | "auto_promote"
    | "transcript"
    | "notes"
  >,
) {
  return call(importRecording, { body: { media, ...(title === null ? {} : { title }), ...details } });
}

export type ImportBody = z.output<typeof Import>;

/** What only uploads of files that may be converted have; null for other uploads. Polled while the file is converted. */
export function uploadedFileQuery(upload: Pick<UploadBody, "id" | "status" | "media_type">) {
  const { id, status, media_type } = upload;
  return queryOptions({
    queryKey: ["uploads", "file", id, status],
    staleTime: 0,
    queryFn: async ({ signal }) => {
      if (media_type === "transcript") return null;
      return call(getImport, { params: { import_id: id }, signal }).catch((error) => {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      });
    },
    refetchInterval: status === "promoting" ? 2000 : false,
  });
}

/** Decides what becomes of several audio tracks. */
export function chooseAudioTracks(uploadId: string, choice: "mix" | "speakers"): Promise<ImportBody> {
  return call(updateImport, { params: { import_id: uploadId }, body: { audio_tracks: choice } });
}

/** Changes the private notes that a recording gets; null removes them. */
export function saveImportNotes(uploadId: string, notes: string | null): Promise<ImportBody> {
  return call(updateImport, { params: { import_id: uploadId }, body: { notes } });
}

/** Removes the transcript of an upload with a file. */
export function removeImportTranscript(uploadId: string): Promise<ImportBody> {
  return call(updateImport, { params: { import_id: uploadId }, body: { transcript: null } });
}

/** The state of an upload created by `startImport`. */
export async function findImport(uploadId: string, signal?: AbortSignal): Promise<ImportBody> {
  return readable(await call(getImport, { params: { import_id: uploadId }, signal }));
}

/** The same, polled until it is a recording. */
export function importQuery(uploadId: string) {
  return queryOptions({
    queryKey: ["uploads", "import", uploadId],
    staleTime: 0,
    queryFn: () => findImport(uploadId),
    refetchInterval: ({ state }) => (state.data?.recording_id || state.data?.failure ? false : 1000),
  });
}

/** Replaces the highlights that an upload created by `startImport` adds to its recording. */
export function saveImportHighlights(
  uploadId: string,
  highlights: z.input<typeof updateImport.body>["highlights"],
) {
  return call(updateImport, { params: { import_id: uploadId }, body: { highlights } });
}

/** Where to send the rest of a file, with its limits; null when the upload no longer expects one. */
export async function findTarget(uploadId: string, isConverted: boolean) {
  if (isConverted) return (await findImport(uploadId)).upload;
  const { media } = await call(getUpload, { params: { upload_id: uploadId }, body: {} });
  return media !== undefined && "upload" in media ? media.upload : null;
}

/** Saves the attributes of an upload. */
export function saveUpload(uploadId: string, attributes: AttributesInput): Promise<UploadBody> {
  return call(updateUpload, {
    params: { upload_id: uploadId },
    body: { attributes, include: { attributes: true, transcript: true } },
  });
}

/** Turns a reviewed upload into a recording. */
export function promote(uploadId: string): Promise<UploadBody> {
  return call(promoteUpload, {
    params: { upload_id: uploadId },
    body: { include: { attributes: true, transcript: true } },
  });
}
