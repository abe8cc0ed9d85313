import type { Session } from "../api/session.ts";

/** A settings page in the navigation. */
export interface NavItem {
  readonly path: string;
  readonly label: string;
}

interface NavGroup {
  readonly label: string;
  readonly isFor: (session: Session) => boolean;
  /** Shown to a user who opens one of its pages by URL and may not. */
  readonly refusal: string;
  readonly items: readonly NavItem[];
}

const isAdmin = ({ user }: Session): boolean => user.role === "admin";
const adminsOnly = "Only admins can change this.";

const groups: readonly NavGroup[] = [
  {
    label: "Your account",
    isFor: () => true,
    refusal: "",
    items: [
      { path: "/settings", label: "Profile" },
      { path: "/settings/notifications", label: "Notifications" },
      { path: "/settings/tokens", label: "Access tokens" },
      { path: "/settings/apps", label: "Connected apps" },
      { path: "/settings/calendars", label: "Calendars" },
      { path: "/settings/deliveries", label: "Deliveries" },
      { path: "/settings/webhooks", label: "Webhooks" },
      { path: "/settings/api", label: "API" },
    ],
  },
  {
    label: "Workspace",
    isFor: isAdmin,
    refusal: adminsOnly,
    items: [
      { path: "/settings/workspace", label: "General" },
      { path: "/settings/security", label: "Security" },
      { path: "/settings/users", label: "Users" },
      { path: "/settings/teams", label: "Teams" },
      { path: "/settings/provisioning", label: "Provisioning" },
      { path: "/settings/meeting-types", label: "Meeting types" },
      { path: "/settings/templates", label: "Templates" },
      { path: "/settings/clients", label: "OAuth clients" },
      { path: "/settings/imports", label: "Imports" },
      { path: "/settings/connections", label: "Connections" },
    ],
  },
  {
    label: "Data governance",
    isFor: isAdmin,
    refusal: adminsOnly,
    items: [
      { path: "/settings/retention", label: "Retention" },
      { path: "/settings/holds", label: "Legal holds" },
      { path: "/settings/erase-personal-data", label: "Erase personal data" },
      { path: "/settings/audit", label: "Audit log" },
    ],
  },
  {
    label: "Server",
    isFor: (session) => session.manages_system,
    refusal: "Only admins of the operator's workspace can see this.",
    items: [
      { path: "/settings/system", label: "System" },
      { path: "/settings/server", label: "Server settings" },
      { path: "/settings/transcription", label: "Transcription" },
      { path: "/settings/language-model", label: "Language model" },
    ],
  },
];

/** The settings pages available to the user, in groups. */
export function navGroupsFor(session: Session): readonly NavGroup[] {
  return groups.filter(({ isFor }) => isFor(session));
}

/** The settings page at a path, if any. */
export function navItemAt(path: string): (NavItem & Pick<NavGroup, "isFor" | "refusal">) | undefined {
  for (const { isFor, refusal, items } of groups)
    for (const item of items)
      if (path === item.path || (item.path !== "/settings" && path.startsWith(`${item.path}/`)))
        return { ...item, isFor, refusal };
  return undefined;
}
