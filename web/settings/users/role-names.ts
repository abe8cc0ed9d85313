import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Role } from "../../api/settings/users.ts";

/** Names of roles. */
export const roleNames: Readonly<Record<Role, MessageDescriptor>> = {
  admin: msg`Admin`,
  member: msg`Member`,
  viewer: msg`Viewer`,
};
