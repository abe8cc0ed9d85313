type Claims = Readonly<Record<string, unknown>>;

/** What a provider says about a user's groups. */
export type GroupsClaim =
  /** The settings name no claim. */
  | { readonly kind: "off" }
  /** The claim is not there. */
  | { readonly kind: "missing"; readonly claim: string }
  /** The provider left the groups out, because they are too many, and says so. */
  | { readonly kind: "left_out"; readonly claim: string }
  | {
      readonly kind: "listed";
      readonly claim: string;
      readonly groups: readonly string[];
      /** Entries that are no texts, or beyond the limit. */
      readonly ignored: number;
    };

/** Groups of one user that are read at most. */
const maxGroups = 5000;

/** Reads the claim that lists the user's groups. A single text is one group. */
export function readGroups(claims: Claims, claim: string | null): GroupsClaim {
  if (claim === null) return { kind: "off" };
  const value = findClaim(claims, claim);
  if (value === undefined || value === null)
    return { kind: isLeftOut(claims, claim) ? "left_out" : "missing", claim };
  const entries: readonly unknown[] = Array.isArray(value) ? value : [value];
  const groups = entries
    .slice(0, maxGroups)
    .filter((entry): entry is string => typeof entry === "string" && entry.trim() !== "")
    .map((entry) => entry.trim());
  return { kind: "listed", claim, groups: [...new Set(groups)], ignored: entries.length - groups.length };
}

/** Whether the groups may be in another response of the provider. */
export function lacksGroups(claims: Claims, claim: string | null): boolean {
  return readGroups(claims, claim).kind === "missing";
}

/** A claim by its name, or by the path to it, such as `realm_access.roles`. Names of claims may have dots too. */
function findClaim(claims: Claims, claim: string): unknown {
  if (Object.hasOwn(claims, claim)) return claims[claim];
  let value: unknown = claims;
  for (const part of claim.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Claims)[part];
  }
  return value;
}

/**
 * Entra ID names the claim in `_claim_names` in place of more than 200 groups, or sets `hasgroups`.
 * Source: OpenID Connect Core 1.0, section 5.6.2.
 */
function isLeftOut(claims: Claims, claim: string): boolean {
  const names: unknown = claims._claim_names;
  if (typeof names === "object" && names !== null && Object.hasOwn(names, claim)) return true;
  return claim === "groups" && ["true", "1"].includes(String(claims.hasgroups).toLowerCase());
}
