import { after } from "node:test";

/** What the test files of a group share; null in a process that runs a single file. */
let shared: Map<string, { readonly value: Promise<unknown>; close(): Promise<void> }> | null = null;

/** Called in a process that runs several test files, before the first. */
export function shareAmongFiles(): void {
  shared = new Map();
}

/**
 * Something that takes long to start and that tests don't change, such as a browser. It is closed after the tests of the
 * calling file or, in a process that runs several files, after the last.
 */
export async function startShared<T>(
  name: string,
  start: () => Promise<T>,
  close: (value: T) => Promise<void>,
): Promise<T> {
  if (shared === null) {
    const value = await start();
    after(() => close(value));
    return value;
  }
  const known = shared.get(name);
  if (known !== undefined) return known.value as Promise<T>;
  const value = start();
  shared.set(name, { value, close: async () => close(await value) });
  return value;
}

/** Closes what the files of a group have shared. */
export async function closeShared(): Promise<void> {
  for (const { close } of shared?.values() ?? []) await close();
}
