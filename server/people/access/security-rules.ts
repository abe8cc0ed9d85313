import type { RuleRefusal } from "../../../contract/accounts/security.ts";
import { because } from "../../../contract/causes/causes.ts";
import type { Role } from "../../platform/auth/principal.ts";
import type { Executor } from "../../platform/db/database.ts";
import type { StoredRules } from "../../platform/db/json-columns.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { type AddressRanges, isInRanges, parseRanges } from "../../platform/outbound/address-ranges.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** A session or token as the rules of its workspace see it. */
export interface RuledCredential {
  readonly userId: string;
  readonly role: Role;
  /** When the account was created. */
  readonly userSince: Date;
  /** Where the request comes from, or the last one came from; null: not known, which refuses nothing. */
  readonly ip: string | null;
  /** When the session began, or the token or the authorization of its app was created. */
  readonly since: Date;
  /** How a session proved its user; null: a token. */
  readonly session: {
    readonly method: "password" | "single_sign_on" | "link" | "passkey";
    readonly hasSecondFactor: boolean;
    readonly lastUsedAt: Date;
  } | null;
  /** For tokens: whether their user has a second factor, a passkey or single sign-on. */
  readonly userHasSecondFactor: boolean;
}

/**
 * Why the rules of a workspace refuse a session or token; null: they don't. The one place that decides this, for each
 * request, for sign-ins, for the preview and before rules are saved.
 */
export function ruleRefusal(
  rules: StoredRules | null,
  credential: RuledCredential,
  now = new Date(),
): RuleRefusal | null {
  if (rules === null) return null;
  return ageRefusal(rules, credential, now) ?? openRequestRefusal(rules, credential, now);
}

/** The same for a request in flight, whose session or token may reach its age while it runs. Not for open-ended streams. */
export function openRequestRefusal(
  rules: StoredRules | null,
  credential: RuledCredential,
  now = new Date(),
): RuleRefusal | null {
  if (rules === null) return null;
  return (
    addressRefusal(rules, credential.ip) ??
    groundRefusal(rules, credential) ??
    (isSecondFactorMissing(rules, credential, now) ? "second_factor" : null)
  );
}

/** Whether requests from an IP address are refused. */
export function addressRefusal(
  rules: Pick<StoredRules, "allowed_addresses"> | null,
  ip: string | null,
): "address" | null {
  if (rules === null || ip === null || rules.allowed_addresses.length === 0) return null;
  return isInRanges(ip, rangesOf(rules.allowed_addresses)) ? null : "address";
}

function ageRefusal(
  rules: StoredRules,
  { session, since }: Pick<RuledCredential, "session" | "since">,
  now: Date,
): RuleRefusal | null {
  const age = now.getTime() - since.getTime();
  if (session === null)
    return rules.token_max_days !== null && age >= rules.token_max_days * dayMs ? "token_age" : null;
  if (rules.session_max_hours !== null && age >= rules.session_max_hours * hourMs) return "session_age";
  const idle = now.getTime() - session.lastUsedAt.getTime();
  return rules.session_idle_minutes !== null && idle >= rules.session_idle_minutes * minuteMs
    ? "session_idle"
    : null;
}

/** What single sign-on alone refuses: sessions that began otherwise, and tokens from before the rule. */
function groundRefusal(
  rules: StoredRules,
  { userId, role, since, session }: RuledCredential,
): RuleRefusal | null {
  if (!rules.single_sign_on_only || session?.method === "single_sign_on") return null;
  if (session !== null)
    return role === "admin" && isBreakGlass(rules, userId) && isStrong(session) ? null : "single_sign_on";
  const start = rules.single_sign_on_since;
  return start !== null && since >= new Date(start) ? null : "single_sign_on";
}

/** Whether a user is the admin whom single sign-on only still lets sign in without the provider. */
export function isBreakGlass(rules: StoredRules | null, userId: string): boolean {
  return rules?.single_sign_on_only === true && rules.break_glass_user_id === userId;
}

/** Whether a session proved its user in two ways. A passkey is both: what its user has, and a PIN or fingerprint. */
function isStrong({
  method,
  hasSecondFactor,
}: Pick<NonNullable<RuledCredential["session"]>, "method" | "hasSecondFactor">): boolean {
  return method === "passkey" || hasSecondFactor;
}

/** Whether a session needs no further second factor. Providers of single sign-on decide themselves what they ask for. */
export function hasProvenEnough(
  session: Pick<NonNullable<RuledCredential["session"]>, "method" | "hasSecondFactor">,
): boolean {
  return session.method === "single_sign_on" || isStrong(session);
}

function isSecondFactorMissing(rules: StoredRules, credential: RuledCredential, now: Date): boolean {
  const { session } = credential;
  if (session === null ? credential.userHasSecondFactor : hasProvenEnough(session)) return false;
  const due = secondFactorDue(rules, credential);
  return due !== null && due <= now;
}

/** Since when each rule requires a second factor of users with a role. */
function secondFactorSince(rules: StoredRules | null, role: Role): string[] {
  if (rules === null) return [];
  return [rules.all_since, role === "admin" ? rules.admins_since : null].filter((at) => at !== null);
}

/** Whether users with a role need a second factor, now or once their grace period is over. */
export function requiresSecondFactor(rules: StoredRules | null, role: Role): boolean {
  return secondFactorSince(rules, role).length > 0;
}

/** Until when a user has to set up a second factor; null: they need none. */
export function secondFactorDue(
  rules: StoredRules | null,
  { role, userSince }: Pick<RuledCredential, "role" | "userSince">,
): Date | null {
  const starts = secondFactorSince(rules, role);
  if (rules === null || starts.length === 0) return null;
  const start = Math.min(...starts.map((at) => new Date(at).getTime()));
  return new Date(Math.max(start, userSince.getTime()) + rules.grace_days * dayMs);
}

/** When a session or token ends, by its own expiry and the rules; null: never. */
export function endOf(
  rules: StoredRules | null,
  { since, expiresAt, kind }: { since: Date; expiresAt: Date | null; kind: "session" | "token" },
): Date | null {
  const [max, unitMs] =
    kind === "session" ? [rules?.session_max_hours, hourMs] : [rules?.token_max_days, dayMs];
  if (max == null) return expiresAt;
  const end = new Date(since.getTime() + max * unitMs);
  return expiresAt === null || end < expiresAt ? end : expiresAt;
}

/** The rules of a workspace; null: none. */
export async function findRules(db: Executor, workspaceId: string): Promise<StoredRules | null> {
  const row = await db
    .selectFrom("workspaces")
    .select("security_rules")
    .where("id", "=", workspaceId)
    .executeTakeFirstOrThrow();
  return row.security_rules;
}

/** The error for a caller that the rules of their workspace refuse. */
export function refusedByRule(refusal: RuleRefusal): ProblemError {
  return new ProblemError("refused_by_rule", because(`rule_${refusal}`));
}

/** Parsed ranges by their text. */
const parsedRanges = new Map<string, AddressRanges>();
const maxParsed = 1000;

function rangesOf(texts: readonly string[]): AddressRanges {
  const key = texts.join(",");
  const known = parsedRanges.get(key);
  if (known !== undefined) return known;
  const ranges = parseRanges(key);
  if (parsedRanges.size >= maxParsed) parsedRanges.clear();
  parsedRanges.set(key, ranges);
  return ranges;
}
