import { plural } from "@lingui/core/macro";

/** How an upload is called in the list. @param title of joined files. */
export function taskName(task: {
  readonly file: File;
  readonly parts: readonly File[] | null;
  readonly title: string | null;
}): string {
  const { file, parts, title } = task;
  return parts === null ? file.name : joinedName(title ?? file.name, parts.length);
}

/** How several files are called that are joined to one recording. */
export function joinedName(title: string, count: number): string {
  return plural(count, { one: `${title} (# file)`, other: `${title} (# files)` });
}
