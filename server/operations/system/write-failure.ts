import { statfs } from "node:fs/promises";
import { userName } from "../../platform/user-name.ts";

/** Why a file can't be written in a folder, and what to do about it. */
export interface WriteFailure {
  readonly cause: string;
  readonly remedy: string;
  /** Whether the folder can still be read and belongs to the right user: only room is missing. */
  readonly isRoom: boolean;
}

const room = "Free some space or enlarge the volume. Retention rules delete old recordings.";

/** The system's code of an error, of what caused it, or of PostgreSQL's message, which has the words of the C library. */
function codeOf(error: unknown): string | null {
  const text = error instanceof Error ? error.message : String(error);
  if (/no space left on device|\bENOSPC\b/i.test(text)) return "ENOSPC";
  if (/disk quota exceeded|\bEDQUOT\b/i.test(text)) return "EDQUOT";
  if (/read-only file system|\bEROFS\b/i.test(text)) return "EROFS";
  return error instanceof Error && error.cause !== undefined ? codeOf(error.cause) : null;
}

/**
 * Names the cause of a failed write, from the error and the volume: full, without inodes, over a quota, read-only, or
 * another user's.
 */
export async function explainWriteFailure(error: unknown, folder: string): Promise<WriteFailure> {
  const code = codeOf(error);
  if (code === "EDQUOT")
    return {
      cause: `the quota of the user ${userName()} on the volume of ${folder} is used up`,
      remedy: "Raise the quota, or delete files of this user.",
      isRoom: true,
    };
  if (code === "ENOSPC") {
    const volume = await statfs(folder).catch(() => null);
    return volume !== null && volume.files > 0 && volume.ffree === 0
      ? {
          cause: `the volume of ${folder} has no free inodes: it holds the greatest number of files that it can`,
          remedy: "Delete files on the volume, or create a file system with more inodes.",
          isRoom: true,
        }
      : { cause: `the volume of ${folder} is full`, remedy: room, isRoom: true };
  }
  if (code === "EROFS")
    return {
      cause: `the volume of ${folder} is mounted read-only`,
      remedy: "Mount it writable. Linux also does this after an error of the disk: check the system's log.",
      isRoom: false,
    };
  return {
    cause: error instanceof Error ? error.message : String(error),
    remedy: `Give the folder to the user that runs Parley: chown -R ${userName()} ${folder}.`,
    isRoom: false,
  };
}
