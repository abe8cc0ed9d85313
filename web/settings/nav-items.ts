import type { Session } from "../api/session.ts";

/** A settings page in the navigation. */
export interface NavItem {
  readonly path: string;
  readonly label: string;
  /** Whether only admins of the operator's workspace see it. */
  readonly isForOperators?: boolean;
}

interface NavGroup {
  readonly label: string;
  readonly isForAdmins: boolean;
  readonly items: readonly NavItem[];
}

const groups: readonly NavGroup[] = [
  {
    label: "Your account",
    isForAdmins: false,
    items: [
      { path: "/settings", label: "Profile" },
      { path: "/settings/tokens", label: "Access tokens" },
      { path: "/settings/apps", label: "Connected apps" },
      { path: "/settings/webhooks", label: "Webhooks" },
      { path: "/settings/api", label: "API" },
    ],
  },
  {
    label: "Workspace",
    isForAdmins: true,
    items: [
      { path: "/settings/workspace", label: "General" },
      { path: "/settings/users", label: "Users" },
      { path: "/settings/teams", label: "Teams" },
      { path: "/settings/meeting-types", label: "Meeting types" },
      { path: "/settings/templates", label: "Templates" },
      { path: "/settings/clients", label: "OAuth clients" },
      { path: "/settings/transcription", label: "Transcription", isForOperators: true },
    ],
  },
  {
    label: "Data governance",
    isForAdmins: true,
    items: [
      { path: "/settings/retention", label: "Retention" },
      { path: "/settings/holds", label: "Legal holds" },
      { path: "/settings/erase-personal-data", label: "Erase personal data" },
      { path: "/settings/audit", label: "Audit log" },
    ],
  },
];

/** The settings pages available to the user, in groups. */
export function navGroupsFor(session: Session): readonly NavGroup[] {
  return groups
    .filter(({ isForAdmins }) => !isForAdmins || session.user.role === "admin")
    .map((group) => ({
      ...group,
      items: group.items.filter(({ isForOperators }) => !isForOperators || session.manages_system),
    }));
}

/** The settings page at a path, if any. */
export function navItemAt(path: string): (NavItem & { isForAdmins: boolean }) | undefined {
  for (const { isForAdmins, items } of groups)
    for (const item of items)
      if (path === item.path || (item.path !== "/settings" && path.startsWith(`${item.path}/`)))
        return { ...item, isForAdmins };
  return undefined;
}
