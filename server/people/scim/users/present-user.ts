import { describe, type Resource } from "../resource.ts";
import type { ScimUserRow } from "./user-rows.ts";

export const userSchema = "urn:ietf:params:scim:schemas:core:2.0:User";

/** A user as SCIM sends them. */
export function presentUser(row: ScimUserRow, baseUrl: string): Resource {
  const { given_name: givenName, family_name: familyName } = row;
  const content = {
    schemas: [userSchema],
    id: row.id,
    ...(row.external_id === null ? {} : { externalId: row.external_id }),
    userName: row.email,
    name: {
      formatted: joinNames(givenName, familyName) ?? row.name,
      ...(givenName === null ? {} : { givenName }),
      ...(familyName === null ? {} : { familyName }),
    },
    displayName: row.name,
    active: row.is_active,
    emails: [{ value: row.email, type: "work", primary: true }],
    groups: row.groups.map(({ id, name }) => ({
      value: id,
      $ref: `${baseUrl}/Groups/${id}`,
      display: name,
      type: "direct",
    })),
    roles: [{ value: row.role, primary: true }],
  };
  return describe(content, { resourceType: "User", baseUrl, created: row.created_at });
}

/** Given and family name as one; null without either. */
export function joinNames(given: string | null, family: string | null): string | null {
  const names = [given, family].filter((name) => name !== null);
  return names.length === 0 ? null : names.join(" ");
}
