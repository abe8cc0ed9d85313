/** A file that was being sent, as the browser remembers it. The address to send to is asked of the server anew. */
export interface Unfinished {
  readonly uploadId: string;
  readonly isConverted: boolean;
  readonly name: string;
  readonly size: number;
  readonly lastModified: number;
  /** Bytes that had arrived; the server knows better. */
  readonly sent: number;
}

/** What this browser remembers of one person's uploads. */
export interface UploadMemory {
  readonly unfinished: readonly Unfinished[];
  /** Uploads the person gave up: nothing will come of them, and their list leaves them out. */
  readonly dropped: readonly string[];
}

/** Remembers more than this of nobody; the oldest go. */
const mostKept = 200;

const keyOf = (userId: string): string => `parley-uploads-${userId}`;

/** Reads what was remembered; a browser that remembers nothing is no fault. */
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

/** Changes what is remembered, as it is now: other tabs write too. */
export function changeMemory(userId: string, change: (before: UploadMemory) => UploadMemory): void {
  const { unfinished, dropped } = change(readMemory(userId));
  try {
    localStorage.setItem(
      keyOf(userId),
      JSON.stringify({ unfinished: unfinished.slice(-mostKept), dropped: dropped.slice(-mostKept) }),
    );
  } catch {
    // Full or not allowed: files are sent all the same, but not continued after a reload.
  }
}

/** Whether it is the very file, as far as its outside tells. */
export function isSameFile(known: Pick<Unfinished, "name" | "size" | "lastModified">, file: File): boolean {
  return known.name === file.name && known.size === file.size && known.lastModified === file.lastModified;
}
