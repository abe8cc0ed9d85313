import type { ImportSource } from "../move/source.ts";
import { parleyFolder } from "./parley-folder.ts";

/** What `parley import --from` accepts. */
export const sourceKinds = ["parley"] as const;
type SourceKind = (typeof sourceKinds)[number];

/** Opens a source of recordings. @throws ImportError when it can't be read. */
export async function openSource(
  kind: SourceKind,
  options: { readonly path: string },
): Promise<ImportSource> {
  const open = { parley: parleyFolder } as const;
  return open[kind](options.path);
}
