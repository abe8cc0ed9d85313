/** Where what lies in the store: the sweep of orphans (uploads/orphans.ts) goes by the same names. */
export const uploadsPrefix = "uploads/";
export const recordingsPrefix = "recordings/";
/** Files that an operator puts there to be imported; never swept. A folder for each workspace, by its id. */
export const importsPrefix = "imports/";

/** The file of an upload as it was sent. */
export function uploadFileKey(uploadId: string): string {
  return `${uploadsPrefix}${uploadId}/file`;
}

/** Something that belongs to a recording. @param name such as `media.mp4` or `thumbnail.jpg`. */
export function recordingObjectKey(recordingId: string, name: string): string {
  return `${recordingsPrefix}${recordingId}/${name}`;
}

/** The id that an object's key names, or null for a key of another form. */
export function ownerOf(key: string): string | null {
  return /^(?:uploads|recordings)\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\//.exec(key)?.[1] ?? null;
}

/** Of an object below a recording: the id of the clip it belongs to; null for all others. */
export function clipOf(key: string): string | null {
  return /^recordings\/[^/]+\/clips\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\//.exec(key)?.[1] ?? null;
}
