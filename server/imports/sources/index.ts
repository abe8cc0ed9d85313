import type { Config } from "../../platform/config/config.ts";
import { ImportError } from "../move/errors.ts";
import type { ImportSource } from "../move/source.ts";
import { grain } from "./grain.ts";
import { parleyFolder } from "./parley-folder.ts";

/** What `parley import --from` accepts. */
export const sourceKinds = ["parley", "grain"] as const;
type SourceKind = (typeof sourceKinds)[number];

interface SourceOptions {
  /** The folder or file of an export; null: not given. */
  readonly path: string | null;
  readonly baseUrl: string | null;
  readonly token: string | null;
  readonly config: Pick<Config, "hooksAllowAddresses">;
}

/** Opens a source of recordings. @throws ImportError when an option is missing, or the source can't be read. */
export async function openSource(kind: SourceKind, options: SourceOptions): Promise<ImportSource> {
  const { path, baseUrl, token, config } = options;
  if (kind === "grain") {
    if (baseUrl === null || token === null)
      throw new ImportError(
        "name the service with --base-url and its token with PARLEY_IMPORT_TOKEN or --token",
      );
    return grain({ baseUrl, token, allowAddresses: config.hooksAllowAddresses });
  }
  if (path === null) throw new ImportError("name the folder of the export, such as parley import DIR");
  return parleyFolder(path);
}
