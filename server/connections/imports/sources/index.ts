import { isUnencrypted } from "../../../../contract/accounts/redirect-target.ts";
import type { Config } from "../../../platform/config/config.ts";
import { csv } from "./csv.ts";
import { ImportError } from "./errors.ts";
import { otter, zoomFolder } from "./file-exports.ts";
import { grain } from "./grain.ts";
import { fathom, fireflies } from "./json-exports.ts";
import { parleyFolder } from "./parley-folder.ts";
import type { ImportSource } from "./source.ts";

/** What `parley import --from` accepts. */
export const sourceKinds = ["parley", "grain", "fireflies", "otter", "fathom", "zoom", "csv"] as const;
type SourceKind = (typeof sourceKinds)[number];

interface SourceOptions {
  /** The folder or file of an export; null: not given. */
  readonly path: string | null;
  readonly baseUrl: string | null;
  readonly token: string | null;
  /** Whether the service may be reached without https. */
  readonly allowHttp: boolean;
  /** For CSV: which columns have what. */
  readonly columns: string | null;
  readonly config: Pick<Config, "hooksAllowAddresses">;
}

/** Opens a source of recordings. @throws ImportError when an option is missing, or the source can't be read. */
export async function openSource(kind: SourceKind, options: SourceOptions): Promise<ImportSource> {
  const { path, baseUrl, token, allowHttp, config } = options;
  if (kind === "grain") {
    if (baseUrl === null || token === null)
      throw new ImportError(
        "name the service with --base-url and its token with PARLEY_IMPORT_TOKEN or --token",
      );
    if (isUnencrypted(baseUrl) && !allowHttp)
      throw new ImportError(
        "--base-url must be an https URL: the token would be sent unencrypted; --allow-http accepts that",
      );
    return grain({ baseUrl, token, allowAddresses: config.hooksAllowAddresses });
  }
  if (path === null)
    throw new ImportError(`name the folder or file of the export, such as parley import DIR --from ${kind}`);
  if (kind === "csv") return csv(path, options.columns);
  const open = { parley: parleyFolder, fireflies, otter, fathom, zoom: zoomFolder } as const;
  return open[kind](path);
}
