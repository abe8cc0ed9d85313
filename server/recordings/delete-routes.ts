import * as contract from "../../contract/recording-management.ts";
import { actorOf } from "../audit/record.ts";
import type { Database } from "../db/database.ts";
import { type Api, route } from "../http/route.ts";
import type { ObjectStore } from "../storage/store.ts";
import { deleteRecording } from "./delete.ts";

/** What the management API does with recordings beyond the contract. */
export function recordingManagementRoutes(
  api: Api,
  { db, store }: { readonly db: Database; readonly store: ObjectStore },
): void {
  route(api, contract.deleteRecording, ({ principal, params, request }) =>
    deleteRecording(
      {
        db,
        store,
        onError: (error) =>
          request.log.warn(
            { err: error, recordingId: params.recording_id },
            "could not remove the files of a deleted recording; the sweep will",
          ),
      },
      principal,
      params.recording_id,
      actorOf(request),
    ),
  );
}
