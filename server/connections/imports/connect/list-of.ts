import { z } from "zod";

/**
 * The valid entries of an array in what a service sends: one of an unknown form must not hide the others.
 * @param max entries that are read.
 */
export function listOf<Entry extends z.ZodType>(entry: Entry, max: number) {
  return z.array(z.unknown()).transform((all) =>
    all.slice(0, max).flatMap((one): z.output<Entry>[] => {
      const { success, data } = entry.safeParse(one);
      return success ? [data] : [];
    }),
  );
}
