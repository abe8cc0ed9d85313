import type { Connection } from "../../api/settings/connections.ts";

export const serviceLabels: Readonly<Record<Connection["kind"], string>> = {
  zoom: "Zoom",
  attendee: "Attendee",
  vexa: "Vexa",
};
