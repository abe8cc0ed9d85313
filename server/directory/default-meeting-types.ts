/** A meeting type as a new workspace gets it. */
export interface DefaultMeetingType {
  readonly name: string;
  readonly scope: "internal" | "external";
  /** What meetings of this scope get while nothing finer is known. */
  readonly isDefault?: true;
}

/** The twelve meeting types every workspace starts with; admins change them as they like. */
export const defaultMeetingTypes: readonly DefaultMeetingType[] = [
  { name: "Team Meeting", scope: "internal", isDefault: true },
  { name: "One-on-One", scope: "internal" },
  { name: "Stand-up", scope: "internal" },
  { name: "Planning", scope: "internal" },
  { name: "Retrospective", scope: "internal" },
  { name: "All-Hands", scope: "internal" },
  { name: "Customer Meeting", scope: "external", isDefault: true },
  { name: "Sales Call", scope: "external" },
  { name: "Product Demo", scope: "external" },
  { name: "Support Call", scope: "external" },
  { name: "Interview", scope: "external" },
  { name: "Partner Meeting", scope: "external" },
];
