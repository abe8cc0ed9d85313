import { errorSuffix } from "../../../shared/files/file-groups.ts";

/** The name of the file in a watched folder that says why nothing is imported at present, and its beginning. */
export const noticeStem = "parley";
export const noticeName = `${noticeStem}${errorSuffix}`;

/** The beginning of the name of the file that lists which files of a watched folder are not recordings. */
export const skippedStem = "not-recordings";
export const skippedName = `${skippedStem}${errorSuffix}`;

/** How often the same notice is written. */
const everyMs = 10 * 60_000;

/** The one file that says for all files of a watched folder what keeps them waiting. */
export interface Notice {
  /** Whether the last listing had it. */
  isThere: boolean;
  /** Writes it, unless that was done a moment ago. */
  write(run: () => Promise<void>): Promise<void>;
}

export function createNotice(): Notice {
  let writtenAt = -Infinity;
  return {
    isThere: false,
    async write(run) {
      if (performance.now() - writtenAt < everyMs) return;
      writtenAt = performance.now();
      await run();
    },
  };
}
