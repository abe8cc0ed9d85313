import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import type { Session } from "../api/session.ts";

/** A settings page in the navigation. */
export interface NavItem {
  readonly path: string;
  readonly label: MessageDescriptor;
  /** Names of products, by which the command palette finds the page. */
  readonly products?: string;
}

interface NavGroup {
  readonly label: MessageDescriptor;
  readonly isFor: (session: Session) => boolean;
  /** Shown to a user who opens one of its pages by URL and may not. */
  readonly refusal: MessageDescriptor | null;
  readonly items: readonly NavItem[];
}

const isAdmin = ({ user }: Session): boolean => user.role === "admin";
const adminsOnly = msg`Only admins can change this.`;

const groups: readonly NavGroup[] = [
  {
    label: msg`Your account`,
    isFor: () => true,
    refusal: null,
    items: [
      { path: "/settings", label: msg`Profile` },
      { path: "/settings/notifications", label: msg`Notifications` },
      { path: "/settings/tokens", label: msg`Access tokens` },
      { path: "/settings/apps", label: msg`Connected apps` },
      {
        path: "/settings/calendars",
        label: msg`Calendars`,
        products: "Google Outlook Nextcloud Proton iCloud CalDAV ICS",
      },
      {
        path: "/settings/deliveries",
        label: msg`Deliveries`,
        products: "Slack Microsoft Teams Mattermost Discord Obsidian Markdown",
      },
      { path: "/settings/webhooks", label: msg`Webhooks` },
      { path: "/settings/api", label: msg`API` },
    ],
  },
  {
    label: msg`Workspace`,
    isFor: isAdmin,
    refusal: adminsOnly,
    items: [
      { path: "/settings/workspace", label: msg`General` },
      { path: "/settings/security", label: msg`Security` },
      { path: "/settings/users", label: msg`Users` },
      { path: "/settings/teams", label: msg`Teams` },
      { path: "/settings/provisioning", label: msg`Provisioning` },
      { path: "/settings/meeting-types", label: msg`Meeting types` },
      { path: "/settings/templates", label: msg`Templates` },
      { path: "/settings/clients", label: msg`OAuth clients` },
      { path: "/settings/imports", label: msg`Imports` },
      { path: "/settings/connections", label: msg`Connections`, products: "Zoom Attendee Vexa" },
    ],
  },
  {
    label: msg`Data governance`,
    isFor: isAdmin,
    refusal: adminsOnly,
    items: [
      { path: "/settings/retention", label: msg`Retention` },
      { path: "/settings/holds", label: msg`Legal holds` },
      { path: "/settings/erase-personal-data", label: msg`Erase personal data` },
      { path: "/settings/audit", label: msg`Audit log` },
    ],
  },
  {
    label: msg`Server`,
    isFor: (session) => session.manages_system,
    refusal: msg`Only admins of the operator's workspace can see this.`,
    items: [
      { path: "/settings/system", label: msg`System` },
      { path: "/settings/server", label: msg`Server settings` },
      { path: "/settings/transcription", label: msg`Transcription` },
      { path: "/settings/language-model", label: msg`Language model` },
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
