/** A meeting type of a new workspace. */
export interface DefaultMeetingType {
  readonly name: string;
  readonly scope: "internal" | "external";
  /** Used for meetings of this scope until a more specific type is known. */
  readonly isDefault?: true;
}

/** The twelve meeting types of a new workspace; admins can change them. */
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
