/**
 * The API versions and the differences between them. A difference is a named gate, open since a version or until one;
 * routes check a gate by name. This is the only file with version strings. Source: contract.md, "Versioning".
 */

/** Requests with a `retired` version fail; the others work. Source: contract.md, "Versioning", rule 2. */
export type VersionStatus = "current" | "deprecated" | "sunsetting" | "retired";

export const versionStatuses: readonly VersionStatus[] = ["current", "deprecated", "sunsetting", "retired"];

/** One dated version of the API. */
export interface ApiVersion {
  readonly name: VersionName;
  readonly status: VersionStatus;
  /** When the version stopped being current; sent in the `Deprecation` header (RFC 9745). */
  readonly deprecatedOn?: string;
  /** When a sunsetting version will be retired; sent in the `Sunset` header (RFC 8594). */
  readonly sunsetOn?: string;
}

/** Oldest first: the order decides what "since" and "until" mean. */
export const versionNames = ["2025-10-31", "2026-10-01"] as const;
export type VersionName = (typeof versionNames)[number];

export const versions: readonly ApiVersion[] = [
  { name: "2025-10-31", status: "deprecated", deprecatedOn: "2026-10-01T00:00:00Z" },
  { name: "2026-10-01", status: "current" },
];

/** Features that exist only in some versions: `since` is inclusive, `until` exclusive. */
export const gates = {
  staged_uploads: { since: "2026-10-01" },
  token_info: { since: "2026-10-01" },
  new_hooks: { since: "2026-10-01" },
  https_hook_urls: { since: "2026-10-01" },
  one_step_upload: { until: "2026-10-01" },
  upload_status_hook: { until: "2026-10-01" },
} as const satisfies Record<string, { since?: VersionName; until?: VersionName }>;

/** `every_version` is explicit, so that every route has to choose. */
export type Gate = keyof typeof gates | "every_version";

/** Whether a gate is open in a version. */
export function isOpen(gate: Gate, version: VersionName): boolean {
  if (gate === "every_version") return true;
  const range: { since?: VersionName; until?: VersionName } = gates[gate];
  const at = versionNames.indexOf(version);
  if (range.since !== undefined && at < versionNames.indexOf(range.since)) return false;
  if (range.until !== undefined && at >= versionNames.indexOf(range.until)) return false;
  return true;
}

/** The versions in which a gate is open, for error texts and the reference. */
export function describeGate(gate: Gate): string {
  if (gate === "every_version") return "every version";
  const open = versionNames.filter((name) => isOpen(gate, name));
  return open.length === 1 ? `version ${open[0]}` : `versions ${open.join(", ")}`;
}

/** Narrows a header value to a known version name. */
export function isVersionName(value: string): value is VersionName {
  return (versionNames as readonly string[]).includes(value);
}
