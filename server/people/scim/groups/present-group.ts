import { describe, type Resource } from "../resource.ts";
import type { GroupRow } from "./group-rows.ts";

export const groupSchema = "urn:ietf:params:scim:schemas:core:2.0:Group";

/** A group as SCIM sends it. Its version depends on the members also where they are left out. */
export function presentGroup(row: GroupRow, baseUrl: string): Resource {
  const head = {
    schemas: [groupSchema],
    id: row.id,
    ...(row.external_id === null ? {} : { externalId: row.external_id }),
    displayName: row.name,
  };
  const members = row.members?.map(({ id, name }) => ({
    value: id,
    $ref: `${baseUrl}/Users/${id}`,
    display: name,
    type: "User",
  }));
  return describe(members === undefined ? head : { ...head, members }, {
    resourceType: "Group",
    baseUrl,
    created: row.created_at,
    versionOf: { ...head, members: row.members_hash },
  });
}
