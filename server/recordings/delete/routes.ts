import * as contract from "../../../contract/recording-management.ts";
import { actorOf } from "../../audit/record.ts";
import type { Database } from "../../platform/db/database.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";
import type { ObjectStore } from "../../platform/storage/store.ts";
import { type DeleteEvents, deleteRecording } from "./delete.ts";

/** Deletes recordings (management API). */
export function recordingManagementRoutes(
  api: Api,
  {
    db,
    store,
    deleteEvents,
  }: { readonly db: Database; readonly store: ObjectStore; readonly deleteEvents: DeleteEvents },
): void {
  route(api, contract.deleteRecording, ({ principal, params, request }) =>
    deleteRecording(
      {
        db,
        store,
        deleteEvents,
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
