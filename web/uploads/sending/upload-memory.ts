/** An unfinished upload, stored in the browser. Its upload URL is requested again from the server. */
export interface Unfinished {
  readonly uploadId: string;
  readonly isConverted: boolean;
  readonly name: string;
  readonly size: number;
  readonly lastModified: number;
  /** Bytes uploaded, for display; the server has the exact offset. */
  readonly sent: number;
}

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
export function isSameFile(known: Pick<Unfinished, "name" | "size" | "lastModified">, file: File): boolean {
  return known.name === file.name && known.size === file.size && known.lastModified === file.lastModified;
}
