import * as contract from "../../../../contract/workspace/spoken-language.ts";
import type { Database } from "../../../platform/db/database.ts";
import { type Api, route } from "../../../platform/http/routing/route.ts";
import { setUploadLanguage } from "./service.ts";

/** What the management API adds to the contract's uploads. */
export function uploadManagementRoutes(api: Api, { db }: { readonly db: Database }): void {
  route(api, contract.setUploadLanguage, ({ principal, params, body }) =>
    setUploadLanguage({ db }, principal, params.upload_id, contract.languageOf(body.language)),
  );
}
