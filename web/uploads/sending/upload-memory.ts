/** An unfinished upload, stored in the browser. Its upload URL is requested again from the server. */
export interface Unfinished {
  readonly uploadId: string;
  readonly isConverted: boolean;
  readonly name: string;
  readonly size: number;
  readonly lastModified: number;
  /** Bytes uploaded, for display; the server has the exact offset. */
  readonly sent: number;
  /** The files that are joined, in their order; absent: a single file. */
  readonly parts?: readonly KnownFile[];
  /** The title of joined files. */
  readonly title?: string;
}

/** What identifies a file that is chosen again. */
type KnownFile = Pick<File, "name" | "size" | "lastModified">;

/** One user's uploads stored in this browser. */
export interface UploadMemory {
  readonly unfinished: readonly Unfinished[];
  /** Cancelled uploads, hidden from the user's list. */
  readonly dropped: readonly string[];
}

/** Maximum entries per user; the oldest are removed. */
const maxKept = 200;

const keyOf = (userId: string): string => `parley-uploads-${userId}`;

/** Reads the stored uploads; empty if there are none or storage is blocked. */
export function readMemory(userId: string): UploadMemory {
  try {
    const found = JSON.parse(localStorage.getItem(keyOf(userId)) ?? "null") as Partial<UploadMemory> | null;
    return {
      unfinished: Array.isArray(found?.unfinished) ? found.unfinished : [],
      dropped: Array.isArray(found?.dropped) ? found.dropped : [],
    };
  } catch {
    return { unfinished: [], dropped: [] };
  }
}

/** Updates the current stored value, because other tabs write too. */
export function changeMemory(userId: string, change: (before: UploadMemory) => UploadMemory): void {
  const { unfinished, dropped } = change(readMemory(userId));
  try {
    localStorage.setItem(
      keyOf(userId),
      JSON.stringify({ unfinished: unfinished.slice(-maxKept), dropped: dropped.slice(-maxKept) }),
    );
  } catch {
    // Storage is full or blocked: uploads still work, but can't resume after a reload.
  }
}

/** Whether a file has the same name, size and date. */
export function isSameFile(known: KnownFile, file: File): boolean {
  return known.name === file.name && known.size === file.size && known.lastModified === file.lastModified;
}

/** Whether these are the files of an unfinished upload, in its order. @param parts null: a single file. */
export function isSameUpload(known: Unfinished, file: File, parts: readonly File[] | null): boolean {
  if (known.parts === undefined || parts === null)
    return known.parts === undefined && parts === null && isSameFile(known, file);
  return (
    known.parts.length === parts.length &&
    known.parts.every((one, index) => parts[index] !== undefined && isSameFile(one, parts[index]))
  );
}

/** The files of an unfinished joined upload, in its order; null when one is missing. */
export function findParts(known: Unfinished, files: readonly File[]): File[] | null {
  const parts = (known.parts ?? []).map((one) => files.find((file) => isSameFile(one, file)));
  return parts.every((part) => part !== undefined) ? parts : null;
}
