import * as contract from "../../contract/search.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import { type Api, route } from "../http/route.ts";
import { search } from "./service.ts";

/** The search of the management API. */
export function searchRoutes(
  api: Api,
  { db, config }: { readonly db: Database; readonly config: Pick<Config, "baseUrl"> },
): void {
  const deps = { pool: db.pool, baseUrl: config.baseUrl };
  route(api, contract.search, ({ principal, query }) => search(deps, principal, query));
}
