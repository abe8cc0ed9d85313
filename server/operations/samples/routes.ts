import * as contract from "../../../contract/uploads/samples.ts";
import { actorOf } from "../../platform/audit/record.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";
import { findSamples, loadSamples, removeSamples } from "./samples.ts";

/** The sample recordings that admins can load. */
export function sampleRoutes(api: Api, deps: Parameters<typeof loadSamples>[0]): void {
  route(api, contract.getSampleRecordings, ({ principal }) => findSamples(deps.db, principal.workspaceId));
  route(api, contract.loadSampleRecordings, ({ principal }) => loadSamples(deps, principal));
  route(api, contract.removeSampleRecordings, ({ principal, request }) =>
    removeSamples(
      {
        ...deps,
        onError: (error) =>
          request.log.warn(
            { err: error },
            "could not remove the files of a deleted recording; the sweep will",
          ),
      },
      principal,
      actorOf(request),
    ),
  );
}
