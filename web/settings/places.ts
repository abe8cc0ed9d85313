import type { Session } from "../api/session.ts";

/** One page of the settings. */
export interface Place {
  readonly path: string;
  readonly label: string;
}

interface PlaceGroup {
  readonly label: string;
  readonly isForAdmins: boolean;
  readonly places: readonly Place[];
}

const groups: readonly PlaceGroup[] = [
  {
    label: "You",
    isForAdmins: false,
    places: [
      { path: "/settings", label: "Profile" },
      { path: "/settings/tokens", label: "Access tokens" },
      { path: "/settings/apps", label: "Connected apps" },
      { path: "/settings/hooks", label: "Hooks" },
      { path: "/settings/api", label: "API" },
    ],
  },
  {
    label: "Workspace",
    isForAdmins: true,
    places: [
      { path: "/settings/workspace", label: "General" },
      { path: "/settings/people", label: "People" },
      { path: "/settings/teams", label: "Teams" },
      { path: "/settings/meeting-types", label: "Meeting types" },
      { path: "/settings/templates", label: "Templates" },
      { path: "/settings/clients", label: "OAuth clients" },
    ],
  },
  {
    label: "Keeping and forgetting",
    isForAdmins: true,
    places: [
      { path: "/settings/retention", label: "Retention" },
      { path: "/settings/holds", label: "Legal holds" },
      { path: "/settings/erasures", label: "Forget a person" },
      { path: "/settings/audit", label: "Audit log" },
    ],
  },
];

/** The pages of the settings that this person may use, in groups. */
export function placesFor(session: Session): readonly PlaceGroup[] {
  return groups.filter(({ isForAdmins }) => !isForAdmins || session.user.role === "admin");
}

/** The page of an address; undefined where it is no page of the settings. */
export function placeAt(path: string): (Place & { isForAdmins: boolean }) | undefined {
  for (const { isForAdmins, places } of groups)
    for (const place of places)
      if (path === place.path || (place.path !== "/settings" && path.startsWith(`${place.path}/`)))
        return { ...place, isForAdmins };
  return undefined;
}
