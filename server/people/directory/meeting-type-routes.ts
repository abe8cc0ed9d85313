import * as contract from "../../../contract/workspace/meeting-types.ts";
import type { Database } from "../../platform/db/database.ts";
import { type Api, route } from "../../platform/http/routing/route.ts";
import {
  createMeetingType,
  deleteMeetingType,
  findManagedMeetingTypes,
  updateMeetingType,
} from "./meeting-types.ts";

/** Management of meeting types by admins and workspace tokens. */
export function meetingTypeRoutes(api: Api, { db }: { readonly db: Database }): void {
  route(api, contract.listManagedMeetingTypes, async ({ principal }) => ({
    meeting_types: await findManagedMeetingTypes(db.kysely, principal.workspaceId),
  }));
  route(api, contract.createMeetingType, ({ principal, body }) => createMeetingType(db, principal, body));
  route(api, contract.updateMeetingType, ({ principal, params, body }) =>
    updateMeetingType(db, principal, params.meeting_type_id, body),
  );
  route(api, contract.deleteMeetingType, ({ principal, params, query }) =>
    deleteMeetingType(db, principal, params.meeting_type_id, query.reassign_to?.toLowerCase()),
  );
}
