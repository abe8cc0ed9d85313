import * as contract from "../../contract/search.ts";
import { readVisible } from "../access/read-visible.ts";
import type { Config } from "../platform/config/config.ts";
import type { Database } from "../platform/db/database.ts";
import { type Api, route } from "../platform/http/routing/route.ts";
import { search } from "./service.ts";

/** The management API's search operation. */
export function searchRoutes(
  api: Api,
  { db, config }: { readonly db: Database; readonly config: Pick<Config, "baseUrl"> },
): void {
  const { baseUrl } = config;
  route(api, contract.search, ({ principal, query }) =>
    readVisible(
      db,
      principal,
      (pool) => search({ pool, baseUrl }, principal, query),
      ({ results }) => results.map(({ recording }) => recording.id),
    ),
  );
}
