import type { FastifyRequest } from "fastify";
import type { Database } from "../../../platform/db/database.ts";
import { hashToken } from "../../accounts/tokens/access-tokens.ts";
import { type ClientRow, findClient } from "../clients/queries.ts";
import { isSameHash } from "../clients/secrets.ts";
import { OAuthError } from "../oauth-error.ts";
import { type Attempt, countGuess, refuseGuessing } from "./throttle.ts";

/** Supported fields of token and revocation requests; others are ignored (RFC 6749, section 3.2). */
const known = [
  "grant_type",
  "code",
  "code_verifier",
  "redirect_uri",
  "refresh_token",
  "client_id",
  "client_secret",
  "token",
  "resource",
] as const;

/** The fields of a token or revocation request; an empty field counts as missing. */
export type Fields = Readonly<Partial<Record<(typeof known)[number], string>>>;

/**
 * Reads the body of a request: JSON or a form, already parsed to an object.
 * @throws OAuthError `invalid_request` for a known field that is repeated or not a string (RFC 6749, section 3.2).
 */
export function readFields(body: unknown): Fields {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new OAuthError("invalid_request", "the body must be a JSON object or a form");
  const sent = new Map<string, unknown>(Object.entries(body));
  const fields: Partial<Record<(typeof known)[number], string>> = {};
  for (const name of known) {
    const value = sent.get(name);
    if (value === undefined || value === null || value === "") continue;
    if (Array.isArray(value)) throw new OAuthError("invalid_request", `${name} was sent more than once`);
    if (typeof value !== "string") throw new OAuthError("invalid_request", `${name} must be a string`);
    fields[name] = value;
  }
  return fields;
}

/** A required field. @throws OAuthError `invalid_request`. */
export function requireField(fields: Fields, name: keyof Fields): string {
  const value = fields[name];
  if (value === undefined) throw new OAuthError("invalid_request", `${name} is missing`);
  return value;
}

interface Credentials {
  readonly clientId: string;
  readonly secret: string | undefined;
  /** Whether the client used the header `Authorization: Basic`. */
  readonly isBasic: boolean;
}

/**
 * Authenticates the client by a secret in the body or by HTTP Basic; public clients have no secret (RFC 6749, section 2.3).
 * @param identified called with the client before its secret is checked, so that CORS lets its page read a refusal.
 * @throws OAuthError `invalid_client` with 401, `invalid_request`, or 429 after too many failures.
 */
export async function authenticateClient(
  db: Database,
  request: FastifyRequest,
  fields: Fields,
  identified: (client: ClientRow) => void,
): Promise<ClientRow> {
  const credentials = readCredentials(request, fields);
  const client = await findClient(db.kysely, credentials.clientId);
  if (client !== undefined) identified(client);
  const attempt: Attempt =
    client === undefined
      ? { kind: "client_id", clientId: null, ip: request.ip }
      : { kind: "client_secret", clientId: client.id, ip: request.ip };
  if (client?.is_public !== true) await refuseGuessing(db, attempt);
  const problem = client === undefined ? "the client is unknown" : secretProblem(client, credentials.secret);
  if (client !== undefined && problem === null) return client;
  await countGuess(db, attempt);
  throw invalidClient(problem ?? "", credentials.isBasic);
}

/** Why the secret is refused, in words; null when it is correct. */
function secretProblem(client: ClientRow, secret: string | undefined): string | null {
  if (client.secret_hash === null)
    return secret === undefined ? null : "a public client must not send a client_secret";
  if (secret === undefined) return "the client_secret is missing";
  const hash = hashToken(secret);
  const { previous_secret_hash: previous, previous_secret_until: until } = client;
  const isCurrent = isSameHash(hash, client.secret_hash);
  const isPrevious = isSameHash(hash, previous ?? Buffer.alloc(0)) && until !== null && until > new Date();
  return isCurrent || isPrevious ? null : "the client_secret is incorrect";
}

function invalidClient(description: string, isBasic: boolean): OAuthError {
  return new OAuthError("invalid_client", description, {
    status: 401,
    headers: isBasic ? { "www-authenticate": 'Basic realm="parley", charset="UTF-8"' } : {},
  });
}

function readCredentials(request: FastifyRequest, fields: Fields): Credentials {
  const basic = /^basic +(\S+) *$/i.exec(request.headers.authorization ?? "")?.[1];
  if (basic === undefined)
    return { clientId: requireField(fields, "client_id"), secret: fields.client_secret, isBasic: false };
  const { clientId, secret } = decodeBasic(basic);
  if (fields.client_secret !== undefined)
    throw new OAuthError(
      "invalid_request",
      "send the client_secret in the header or in the body, not in both",
    );
  if (fields.client_id !== undefined && fields.client_id !== clientId)
    throw new OAuthError("invalid_request", "the client_id in the body differs from the one in the header");
  return { clientId, secret: secret === "" ? undefined : secret, isBasic: true };
}

/** RFC 6749, section 2.3.1: id and secret are each form-encoded before they become user name and password. */
function decodeBasic(text: string): { clientId: string; secret: string } {
  const pair = Buffer.from(text, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  if (colon === -1) throw invalidClient("the Authorization header is not HTTP Basic", true);
  const decode = (part: string): string => decodeURIComponent(part.replaceAll("+", " "));
  try {
    return { clientId: decode(pair.slice(0, colon)), secret: decode(pair.slice(colon + 1)) };
  } catch {
    throw invalidClient("the Authorization header has an invalid percent-encoding", true);
  }
}
