import type { FastifyRequest } from "fastify";
import { hashToken } from "../accounts/access-tokens.ts";
import type { Database } from "../db/database.ts";
import { type ClientRow, findClient } from "./client-queries.ts";
import { OAuthError } from "./oauth-error.ts";
import { isSameHash } from "./secrets.ts";
import { type Attempt, countGuess, refuseGuessing } from "./throttle.ts";

/** What of a token or revocation request means something here; the rest is ignored (RFC 6749, section 3.2). */
const known = [
  "grant_type",
  "code",
  "code_verifier",
  "redirect_uri",
  "refresh_token",
  "client_id",
  "client_secret",
  "token",
] as const;

/** The fields of a token or revocation request; one without a value is as good as left out. */
export type Fields = Readonly<Partial<Record<(typeof known)[number], string>>>;

/**
 * Reads the body of a request: JSON or a form, both come as an object.
 * @throws OAuthError `invalid_request` for a known field that is sent twice or is no text (RFC 6749, section 3.2).
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
    if (typeof value !== "string") throw new OAuthError("invalid_request", `${name} must be a text`);
    fields[name] = value;
  }
  return fields;
}

/** A field the request can't do without. @throws OAuthError `invalid_request`. */
export function requireField(fields: Fields, name: keyof Fields): string {
  const value = fields[name];
  if (value === undefined) throw new OAuthError("invalid_request", `${name} is missing`);
  return value;
}

interface Credentials {
  readonly clientId: string;
  readonly secret: string | undefined;
  /** By the header `Authorization: Basic`. */
  readonly isBasic: boolean;
}

/**
 * Finds out which client is asking, and that it is that client: by secret in the body or by HTTP Basic; a public client
 * has none (RFC 6749, section 2.3).
 * @param identified told of the client before its secret is checked, so that a page can read why it was refused.
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
  const fault = client === undefined ? "there is no such client" : secretFault(client, credentials.secret);
  if (client !== undefined && fault === null) return client;
  await countGuess(db, attempt);
  throw invalidClient(fault ?? "", credentials.isBasic);
}

/** Why the secret is not the client's, in words; null when it is. */
function secretFault(client: ClientRow, secret: string | undefined): string | null {
  if (client.secret_hash === null)
    return secret === undefined ? null : "this client is public and has no client_secret";
  if (secret === undefined) return "the client_secret is missing";
  const hash = hashToken(secret);
  const { previous_secret_hash: previous, previous_secret_until: until } = client;
  const isCurrent = isSameHash(hash, client.secret_hash);
  const isPrevious = isSameHash(hash, previous ?? Buffer.alloc(0)) && until !== null && until > new Date();
  return isCurrent || isPrevious ? null : "the client_secret is wrong";
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
    throw new OAuthError("invalid_request", "the client_id of the body is not the one of the header");
  return { clientId, secret: secret === "" ? undefined : secret, isBasic: true };
}

/** RFC 6749, section 2.3.1: id and secret are each written as in a form before they become a user and a password. */
function decodeBasic(text: string): { clientId: string; secret: string } {
  const pair = Buffer.from(text, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  if (colon === -1) throw invalidClient("the Authorization header is not HTTP Basic", true);
  const decode = (part: string): string => decodeURIComponent(part.replaceAll("+", " "));
  try {
    return { clientId: decode(pair.slice(0, colon)), secret: decode(pair.slice(colon + 1)) };
  } catch {
    throw invalidClient("the Authorization header holds a broken percent-encoding", true);
  }
}
