import * as contract from "../../../contract/sharing/access-requests.ts";
import { actorOf } from "../../platform/audit/record.ts";
import type { Database } from "../../platform/db/database.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";
import type { JobQueue } from "../../platform/jobs/queue.ts";
import { declineAccess, findAccessRequests, grantAccess } from "./decide.ts";
import { requestAccess } from "./request.ts";

/** Requests for access to recordings. */
export function accessRequestRoutes(
  api: Api,
  deps: {
    readonly db: Database;
    readonly jobs: JobQueue;
  },
): void {
  const { db } = deps;
  route(api, contract.requestAccess, ({ request, params }) =>
    requestAccess(deps, request, params.recording_id),
  );
  route(api, contract.listAccessRequests, ({ principal, params }) =>
    findAccessRequests(db, principal, params.recording_id),
  );
  route(api, contract.grantAccess, ({ principal, request, params }) =>
    grantAccess(deps, {
      principal,
      actor: actorOf(request),
      recordingId: params.recording_id,
      userId: params.user_id,
    }),
  );
  route(api, contract.declineAccess, ({ principal, request, params }) =>
    declineAccess(db, {
      principal,
      actor: actorOf(request),
      recordingId: params.recording_id,
      userId: params.user_id,
    }),
  );
}
