import { z } from "zod";
import { defaultProviderId } from "../../../contract/default-provider.ts";
import { type GroupMapping, maxProviders, StoredProvider } from "../../../contract/sign-in-providers.ts";
import { acceptsIssuer, issuerKey, whyShared } from "./shared-issuers.ts";
import { issuerUrl } from "./values.ts";

/** A provider of single sign-on (OpenID Connect). */
export interface SignInProvider {
  /** Part of its redirect URI. */
  readonly id: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Label of the button on the sign-in page. */
  readonly name: string;
  readonly createUsers: boolean;
  readonly trustEmail: boolean;
  /** Besides those that every sign-in asks for. */
  readonly scopes: readonly string[];
  /** Domains of emails that it may speak for; empty: any. */
  readonly allowedDomains: readonly string[];
  readonly groupsClaim: string | null;
  readonly groups: readonly GroupMapping[];
}

/** Where a value of a provider is wrong, and why: the end of a sentence. */
interface ProviderProblem {
  readonly field: string;
  readonly detail: string;
}

/** What is wrong with a provider beyond the forms of its values. */
export function findProviderProblems(provider: z.output<typeof StoredProvider>): ProviderProblem[] {
  const problems: ProviderProblem[] = [];
  const issuer = issuerUrl.safeParse(provider.issuer);
  if (!issuer.success)
    problems.push({ field: "issuer", detail: issuer.error.issues[0]?.message ?? "is not valid" });
  const shared = provider.trust_email ? whyShared(provider.issuer) : null;
  if (shared !== null)
    problems.push({ field: "trust_email", detail: `can't be true for ${provider.issuer}: ${shared}` });
  if (provider.groups.length > 0 && provider.groups_claim === null)
    problems.push({ field: "groups_claim", detail: "must name the claim that lists the groups" });
  const seen = new Set<string>();
  for (const [index, { group }] of provider.groups.entries()) {
    if (seen.has(group)) problems.push({ field: `groups/${index}/group`, detail: "is listed twice" });
    seen.add(group);
  }
  return problems;
}

/** Reads PARLEY_OIDC_PROVIDERS. Messages never quote it, because it holds secrets. */
export const providerList = z.string().transform((text, context): SignInProvider[] => {
  const fail = (message: string): [] => {
    context.addIssue({ code: "custom", message });
    return [];
  };
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return fail("must be valid JSON");
  }
  if (!Array.isArray(json)) return fail("must be a JSON list of providers");
  if (json.length > maxProviders) return fail(`must have at most ${maxProviders} providers`);
  const result = z.array(StoredProvider).safeParse(json);
  if (!result.success) {
    const issue = result.error.issues[0];
    const keys = issue?.code === "unrecognized_keys" ? `: ${issue.keys.join(", ")}` : "";
    return fail(
      `is wrong at ${issue?.path.join(".")}: ${keys === "" ? describe(issue?.message) : `unknown names${keys}`}`,
    );
  }
  for (const [index, provider] of result.data.entries()) {
    const [problem] = findProviderProblems(provider);
    if (problem !== undefined)
      return fail(`is wrong at ${index}.${problem.field.replaceAll("/", ".")}, which ${problem.detail}`);
  }
  return result.data.map(toProvider);
});

const describe = (message = "is not valid"): string => message.charAt(0).toLowerCase() + message.slice(1);

export function toProvider(stored: z.output<typeof StoredProvider>): SignInProvider {
  return {
    id: stored.id,
    issuer: stored.issuer,
    clientId: stored.client_id,
    clientSecret: stored.client_secret,
    name: stored.name,
    createUsers: stored.create_users,
    trustEmail: stored.trust_email,
    scopes: stored.scopes,
    allowedDomains: stored.allowed_domains,
    groupsClaim: stored.groups_claim,
    groups: stored.groups,
  };
}

export function toStored(provider: SignInProvider): z.output<typeof StoredProvider> {
  return {
    id: provider.id,
    name: provider.name,
    issuer: provider.issuer,
    client_id: provider.clientId,
    client_secret: provider.clientSecret,
    scopes: [...provider.scopes],
    allowed_domains: [...provider.allowedDomains],
    create_users: provider.createUsers,
    trust_email: provider.trustEmail,
    groups_claim: provider.groupsClaim,
    groups: [...provider.groups],
  };
}

type First = Pick<
  SignInProvider,
  "issuer" | "clientId" | "clientSecret" | "name" | "createUsers" | "trustEmail"
>;

/** All providers in the order of the sign-in page: that of the single variables, then those of the list. */
export function joinProviders(first: First | null, others: readonly SignInProvider[]): SignInProvider[] {
  if (first === null) return [...others];
  const rest = { scopes: [], allowedDomains: [], groupsClaim: null, groups: [] };
  return [{ id: defaultProviderId, ...first, ...rest }, ...others];
}

/** The provider whose tokens have this issuer; one that names it before one that stands for several. */
export function findProviderOf(
  providers: readonly SignInProvider[],
  issuer: string,
): SignInProvider | undefined {
  return (
    providers.find((provider) => issuerKey(provider.issuer) === issuerKey(issuer)) ??
    providers.find((provider) => acceptsIssuer(provider.issuer, issuer))
  );
}

/** What is wrong with providers beside each other; null: nothing. An account is linked by issuer and subject. */
export function findProviderClash(providers: readonly SignInProvider[]): string | null {
  for (const [index, provider] of providers.entries()) {
    const others = providers.slice(0, index);
    if (others.some(({ id }) => id === provider.id)) return `has the provider ${provider.id} twice`;
    const twin = others.find(({ issuer }) => issuerKey(issuer) === issuerKey(provider.issuer));
    if (twin !== undefined)
      return `has the issuer ${provider.issuer} in ${provider.id} and in ${twin.id}; set up each issuer once`;
  }
  return null;
}
