import type { Resource } from "../../../platform/auth/audience.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Localized } from "../../../platform/language/i18n.ts";
import { type ClientRow, isSelfRegistered } from "../clients/queries.ts";
import { isRegistered } from "../clients/redirect-uri.ts";
import { readResource } from "../resource.ts";
import { challengePattern } from "./pkce.ts";

/** Supported parameters of an authorization request; others are ignored (RFC 6749, section 3.1). */
const known = [
  "response_type",
  "client_id",
  "redirect_uri",
  "state",
  "code_challenge",
  "code_challenge_method",
  "response_mode",
  "prompt",
  "login_hint",
  "request",
  "request_uri",
  "resource",
] as const;
type Name = (typeof known)[number];

type Parameters = Readonly<Partial<Record<Name, string>>>;

/** Errors that go back to the client in the redirect. Source: RFC 6749, section 4.1.2.1; OpenID Connect Core, 3.1.2.6; RFC 8707. */
type AuthorizeErrorCode =
  | "invalid_request"
  | "unsupported_response_type"
  | "access_denied"
  | "login_required"
  | "consent_required"
  | "invalid_target"
  | "request_not_supported"
  | "request_uri_not_supported";

/** A known client and the validated redirect URI. */
export interface Target {
  readonly client: ClientRow;
  readonly redirectUri: string;
  readonly state: string | undefined;
}

/** A valid authorization request. */
export interface AuthorizeRequest extends Target {
  readonly parameters: Parameters;
  readonly codeChallenge: string | null;
  readonly prompts: ReadonlySet<string>;
  readonly loginHint: string;
  /** What the tokens are restricted to; null: nothing. */
  readonly resource: Resource | null;
}

/** The result of validating a request. */
export type ReadRequest =
  /** Must not redirect: the user sees the reason on a page (RFC 6749, section 4.1.2.1). */
  | { readonly kind: "stop"; readonly reason: Localized }
  | {
      readonly kind: "error";
      readonly target: Target;
      readonly code: AuthorizeErrorCode;
      readonly description: string;
    }
  | { readonly kind: "valid"; readonly request: AuthorizeRequest };

/**
 * Validates an authorization request from a query or a form: client and redirect URI first, then the rest.
 * @param findApp returns the client, or for the user the reason why there is none.
 */
export async function readAuthorizeRequest(
  findApp: (clientId: string) => Promise<ClientRow | Localized>,
  { baseUrl, oauthRedirectSchemes: schemes }: Pick<Config, "baseUrl" | "oauthRedirectSchemes">,
  sent: Readonly<Record<string, unknown>>,
): Promise<ReadRequest> {
  const stop = (reason: Localized): ReadRequest => ({ kind: "stop", reason });
  const twice = known.filter((name) => Array.isArray(sent[name]));
  const parameters: Parameters = Object.fromEntries(
    known.flatMap((name) => {
      const value = sent[name];
      return typeof value === "string" && value !== "" ? [[name, value]] : [];
    }),
  );
  const { client_id: clientId, redirect_uri: redirectUri, state } = parameters;
  if (twice.includes("client_id") || twice.includes("redirect_uri"))
    return stop((i18n) => i18n.t("The URL contains client_id or redirect_uri more than once."));
  if (clientId === undefined) return stop((i18n) => i18n.t("The URL doesn't say which app you came from."));
  const client = await findApp(clientId);
  if (typeof client === "function") return stop(client);
  const { name: app } = client;
  if (redirectUri === undefined)
    return stop((i18n) => i18n.t("{app} didn't say where to return you to.", { app }));
  if (!isRegistered(redirectUri, client.redirect_uris, { isPublic: client.is_public, schemes }))
    return stop((i18n) =>
      i18n.t("{app} asked to return you to a URL that is not registered for it.", { app }),
    );
  const target: Target = { client, redirectUri, state };
  if (twice[0] !== undefined) {
    const isState = twice.includes("state");
    return {
      kind: "error",
      target: isState ? { ...target, state: undefined } : target,
      code: twice[0] === "resource" ? "invalid_target" : "invalid_request",
      description: `${twice[0]} was sent more than once`,
    };
  }
  const resource = parameters.resource === undefined ? null : readResource(baseUrl, parameters.resource);
  const problem = findProblem(client, parameters);
  if (problem !== null) return { kind: "error", target, code: problem[0], description: problem[1] };
  if (resource === undefined)
    return {
      kind: "error",
      target,
      code: "invalid_target",
      description: "resource is not a URL of this server",
    };
  return {
    kind: "valid",
    request: {
      ...target,
      parameters,
      codeChallenge: parameters.code_challenge ?? null,
      prompts: promptsOf(parameters),
      loginHint: parameters.login_hint ?? "",
      resource,
    },
  };
}

const prompts = ["none", "login", "consent", "select_account"];

function promptsOf({ prompt }: Parameters): ReadonlySet<string> {
  return new Set((prompt ?? "").split(" ").filter((word) => word !== ""));
}

/** What is wrong with a request whose client and redirect URI are valid; null when nothing is. */
function findProblem(client: ClientRow, parameters: Parameters): [AuthorizeErrorCode, string] | null {
  const { response_type: responseType, response_mode: responseMode } = parameters;
  if (parameters.request !== undefined) return ["request_not_supported", "request is not supported"];
  if (parameters.request_uri !== undefined)
    return ["request_uri_not_supported", "request_uri is not supported"];
  if (responseType === undefined) return ["invalid_request", "response_type is missing"];
  if (responseType !== "code") return ["unsupported_response_type", "response_type must be code"];
  if (responseMode !== undefined && responseMode !== "query")
    return ["invalid_request", "response_mode must be query"];
  const pkce = pkceRequestProblem(client, parameters);
  if (pkce !== null) return ["invalid_request", pkce];
  const asked = promptsOf(parameters);
  if ([...asked].some((word) => !prompts.includes(word)))
    return ["invalid_request", `prompt must consist of: ${prompts.join(", ")}`];
  if (asked.has("none") && asked.size > 1)
    return ["invalid_request", "prompt=none can't be combined with other values"];
  return null;
}

/** Requires PKCE with S256 for public and self-registered clients (RFC 9700, section 2.1.1); `plain` protects nobody. */
function pkceRequestProblem(
  client: ClientRow,
  { code_challenge: challenge, code_challenge_method: method }: Parameters,
): string | null {
  if (challenge === undefined) {
    if (method !== undefined) return "code_challenge is missing";
    if (isSelfRegistered(client)) return "code_challenge is missing; self-registered apps must send one";
    return client.is_public ? "code_challenge is missing; public clients must send one" : null;
  }
  if (method !== "S256") return "code_challenge_method must be S256";
  return challengePattern.test(challenge) ? null : "code_challenge must be the base64url of a SHA-256";
}

/** URL that continues a request after sign-in, without asking to sign in again. */
export function continueUrl(path: string, { parameters, prompts: asked }: AuthorizeRequest): string {
  const left = [...asked].filter((word) => word !== "login" && word !== "select_account").join(" ");
  const { prompt: _, ...rest } = parameters;
  return `${path}?${new URLSearchParams({ ...rest, ...(left === "" ? {} : { prompt: left }) })}`;
}
