import { z } from "zod";
import { corsOriginProblem, redirectUriProblem } from "../redirect-uri.ts";

/** What an app says about itself, validated. */
export interface AppMetadata {
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly authMethod: (typeof authMethods)[number];
}

/** Why metadata was refused. Source: RFC 7591, section 3.2.2. */
export interface MetadataProblem {
  readonly code: "invalid_redirect_uri" | "invalid_client_metadata";
  readonly description: string;
}

const authMethods = ["none", "client_secret_basic", "client_secret_post"] as const;

const Metadata = z.object({
  client_name: z.string().max(1000).optional(),
  redirect_uris: z.array(z.string().max(2000)).min(1).max(20),
  token_endpoint_auth_method: z.enum(authMethods).optional(),
  grant_types: z.array(z.string().max(200)).max(20).optional(),
  response_types: z.array(z.string().max(200)).max(20).optional(),
});

/**
 * Validates the metadata of an app that registers itself (RFC 7591, section 2). Unknown fields are ignored; so are logos and
 * links, which would let an app imitate another on the consent page.
 * @param rules.isDocument a document can't hold a secret, so that its app is public.
 * @param rules.schemes that redirect URIs may have by the setting PARLEY_OAUTH_REDIRECT_SCHEMES.
 */
export function readMetadata(
  sent: unknown,
  { isDocument, schemes }: { readonly isDocument: boolean; readonly schemes: readonly string[] },
): AppMetadata | MetadataProblem {
  const invalid = (description: string): MetadataProblem => ({
    code: "invalid_client_metadata",
    description,
  });
  const parsed = Metadata.safeParse(sent);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.path.join(".") ?? "";
    const description = `${field === "" ? "the metadata" : field}: ${issue?.message ?? "invalid"}`;
    return field.startsWith("redirect_uris")
      ? { code: "invalid_redirect_uri", description }
      : invalid(description);
  }
  const { client_name, redirect_uris, token_endpoint_auth_method, grant_types, response_types } = parsed.data;
  const authMethod = token_endpoint_auth_method ?? (isDocument ? "none" : "client_secret_basic");
  if (isDocument && authMethod !== "none") return invalid("token_endpoint_auth_method must be none");
  if (grant_types !== undefined && !grant_types.includes("authorization_code"))
    return invalid("grant_types must contain authorization_code");
  if (response_types !== undefined && !response_types.includes("code"))
    return invalid("response_types must contain code");
  for (const uri of redirect_uris) {
    const problem = redirectUriProblem(uri, { isPublic: authMethod === "none", schemes });
    if (problem !== null) return { code: "invalid_redirect_uri", description: `a redirect URI ${problem}` };
  }
  return { name: readName(client_name), redirectUris: redirect_uris, authMethod };
}

/** The name on the consent page: one line, without characters that are invisible or reverse the text. */
function readName(name: string | undefined): string {
  const shown = (name ?? "").replace(/[\p{C}\p{Z}]+/gu, " ").trim();
  return shown === "" ? "Unnamed app" : [...shown].slice(0, 100).join("");
}

/** The origins of an app's redirect URIs, whose pages may call the token endpoint and the API. */
export function originsOf(redirectUris: readonly string[]): string[] {
  const origins = redirectUris.map((uri) => new URL(uri).origin);
  return [...new Set(origins)].filter((origin) => corsOriginProblem(origin) === null);
}
