/** The keys of everything in the store; the sweep of orphans (storage-maintenance/orphans.ts) uses the same names. */
export const uploadsPrefix = "uploads/";
export const recordingsPrefix = "recordings/";
/** Files that an operator puts there to be imported; never swept. One folder per workspace, named by its id. */
export const importsPrefix = "imports/";

/** Markdown files that deliveries write. One folder per workspace, named by its id. */
export const notesPrefix = "notes/";

/** The uploaded file of an upload. */
export function uploadFileKey(uploadId: string): string {
  return `${uploadsPrefix}${uploadId}/file`;
}

/** A file of a recording. @param name such as `media.mp4` or `thumbnail.jpg`. */
export function recordingObjectKey(recordingId: string, name: string): string {
  return `${recordingsPrefix}${recordingId}/${name}`;
}

/** The id in an object's key; null for a key of another form. */
export function ownerOf(key: string): string | null {
  return /^(?:uploads|recordings)\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\//.exec(key)?.[1] ?? null;
}

/** For an object below a recording: the id of the clip it belongs to; null for all others. */
export function clipOf(key: string): string | null {
  return /^recordings\/[^/]+\/clips\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\//.exec(key)?.[1] ?? null;
}

const contentTypes: Readonly<Record<string, string>> = {
  mp4: "video/mp4",
  mp3: "audio/mpeg",
  jpg: "image/jpeg",
  json: "application/json",
};

/** What an object is served as, by the end of its key. */
export function contentTypeOf(key: string): string {
  return contentTypes[key.slice(key.lastIndexOf(".") + 1)] ?? "application/octet-stream";
}
