import * as contract from "../../../contract/recordings/search.ts";
import { viewerOf } from "../../people/access/viewer.ts";
import type { Config } from "../../platform/config/config.ts";
import type { LinkSigner } from "../../platform/crypto/link-signer.ts";
import type { Database } from "../../platform/db/database.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";
import { thumbnailLinks } from "../recordings/json/links.ts";
import { search } from "./service.ts";

/** The management API's search operation. */
export function searchRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly signer: LinkSigner;
    readonly config: Pick<Config, "baseUrl">;
  },
): void {
  const { db, signer, config } = deps;
  const { baseUrl } = config;
  route(api, contract.search, ({ principal, query, request }) =>
    search(
      { db, baseUrl, thumbnails: thumbnailLinks(signer, viewerOf(principal)), log: request.log },
      principal,
      query,
    ),
  );
}
