import { randomUUIDv7 } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { sql } from "kysely";
import type { CreatedResponse, SignedResponse } from "../../../../contract/accounts/passkeys.ts";
import { because } from "../../../../contract/causes/causes.ts";
import type { Database, Executor, Tx } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { signInOriginOf } from "../sign-in/devices.ts";
import { beginSession } from "../sign-in/sign-in.ts";
import { consumeChallenge } from "./ceremony.ts";

/** How many passkeys a user may have. */
const maxPasskeys = 20;

/** EdDSA, ES256 and RS256, which all authenticators have one of. Source: https://www.iana.org/assignments/cose/. */
const algorithms = [-8, -7, -257] as const;

/** Which server a passkey is for. */
export interface RelyingParty {
  /** Its host, to which browsers bind the passkey. */
  readonly id: string;
  readonly origin: string;
}

/** The relying party of a base URL. */
export function relyingPartyOf(baseUrl: string): RelyingParty {
  const { hostname, origin } = new URL(baseUrl);
  return { id: hostname, origin };
}

/** Why the browser's response was not accepted, for the user. */
export class PasskeyError extends Error {}

/** The library is loaded only here: most requests need no passkey. */
const webAuthn = () => import("@simplewebauthn/server");

export interface PasskeyRow {
  readonly id: string;
  readonly name: string;
  readonly uses: number;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
}

const columns = ["id", "name", "uses", "created_at", "last_used_at"] as const;

export function findPasskeys(db: Executor, userId: string): Promise<PasskeyRow[]> {
  return db
    .selectFrom("passkeys")
    .select(columns)
    .where("user_id", "=", userId)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .execute();
}

/** Options for a browser to create a passkey that signs in without an email and verifies its user. */
export async function creationOptions(
  db: Database,
  party: RelyingParty,
  user: { readonly id: string; readonly name: string; readonly email: string },
  challenge: string,
): Promise<Record<string, unknown>> {
  const existing = await db.kysely
    .selectFrom("passkeys")
    .select(["credential_id", "transports"])
    .where("user_id", "=", user.id)
    .execute();
  const { generateRegistrationOptions } = await webAuthn();
  const options = await generateRegistrationOptions({
    rpName: "Parley",
    rpID: party.id,
    userID: new TextEncoder().encode(user.id),
    userName: user.email,
    userDisplayName: user.name,
    challenge: Buffer.from(challenge, "base64url"),
    timeout: 300_000,
    attestationType: "none",
    supportedAlgorithmIDs: [...algorithms],
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    excludeCredentials: existing.map(({ credential_id, transports }) => ({
      id: credential_id.toString("base64url"),
      transports,
    })),
  });
  return { ...options };
}

/** Options for a browser to sign in with any passkey of this server. */
export async function requestOptions(
  party: RelyingParty,
  challenge: string,
): Promise<Record<string, unknown>> {
  const { generateAuthenticationOptions } = await webAuthn();
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    challenge: Buffer.from(challenge, "base64url"),
    timeout: 300_000,
    userVerification: "required",
  });
  return { ...options };
}

/**
 * Adds the passkey that a browser has created.
 * @throws PasskeyError when the response is not of this challenge and server; ProblemError `wrong_state` for too many.
 */
export async function addPasskey(
  tx: Tx,
  input: {
    readonly party: RelyingParty;
    readonly userId: string;
    readonly challenge: string;
    readonly name: string;
    readonly response: CreatedResponse;
  },
): Promise<PasskeyRow> {
  const { id, rawId, type, response } = input.response;
  const { clientDataJSON, attestationObject, transports } = response;
  const { verifyRegistrationResponse } = await webAuthn();
  const { verified, registrationInfo } = await verifyRegistrationResponse({
    response: {
      id,
      rawId,
      type,
      response: { clientDataJSON, attestationObject, transports: transports ?? [] },
      clientExtensionResults: {},
    },
    expectedChallenge: input.challenge,
    expectedOrigin: input.party.origin,
    expectedRPID: input.party.id,
    requireUserVerification: true,
    supportedAlgorithmIDs: [...algorithms],
  }).catch((error: unknown) => {
    throw refusalOf(error);
  });
  if (!verified || !(await consumeChallenge(tx, input.challenge)))
    throw new PasskeyError("the browser's response was used before or is not valid; start again");
  // Counted under a lock.
  await tx
    .selectFrom("users")
    .select("id")
    .where("id", "=", input.userId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if ((await findPasskeys(tx, input.userId)).length >= maxPasskeys)
    throw new ProblemError("wrong_state", because("passkey_limit", { limit: maxPasskeys }));
  const { credential } = registrationInfo;
  const added = await tx
    .insertInto("passkeys")
    .values({
      id: randomUUIDv7(),
      user_id: input.userId,
      credential_id: Buffer.from(credential.id, "base64url"),
      public_key: Buffer.from(credential.publicKey),
      counter: String(credential.counter),
      transports: credential.transports ?? [],
      name: input.name,
    })
    .onConflict((conflict) => conflict.column("credential_id").doNothing())
    .returning(columns)
    .executeTakeFirst();
  if (added === undefined) throw new PasskeyError("this passkey was added before");
  return added;
}

/**
 * Signs in with the passkey that a browser has used.
 * @throws PasskeyError when the passkey is unknown, was copied, or the response is not of this challenge and server.
 */
export async function signInWithPasskey(
  tx: Tx,
  request: FastifyRequest,
  input: {
    readonly party: RelyingParty;
    readonly challenge: string;
    readonly response: SignedResponse;
  },
): Promise<{ readonly userId: string; readonly sessionId: string; readonly cookie: string }> {
  const { id, rawId, type, response } = input.response;
  const { clientDataJSON, authenticatorData, signature } = response;
  const key = await tx
    .selectFrom("passkeys as p")
    .innerJoin("users as u", "u.id", "p.user_id")
    .select(["p.id", "p.user_id", "p.credential_id", "p.public_key", "p.counter", "p.transports"])
    .select(["u.workspace_id", "u.email_key"])
    .where("p.credential_id", "=", Buffer.from(id, "base64url"))
    .where("u.deactivated_at", "is", null)
    // A concurrent deactivation waits, and then ends the session.
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (key === undefined)
    throw new PasskeyError("this passkey is not known here: it was removed, or the account was deactivated");
  const { verifyAuthenticationResponse } = await webAuthn();
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: {
      id,
      rawId,
      type,
      response: { clientDataJSON, authenticatorData, signature },
      clientExtensionResults: {},
    },
    expectedChallenge: input.challenge,
    expectedOrigin: input.party.origin,
    expectedRPID: input.party.id,
    requireUserVerification: true,
    credential: {
      id: key.credential_id.toString("base64url"),
      publicKey: new Uint8Array(key.public_key),
      counter: Number(key.counter),
    },
  }).catch((error: unknown) => {
    throw refusalOf(error);
  });
  if (!verified || !(await consumeChallenge(tx, input.challenge)))
    throw new PasskeyError("the browser's response was used before or is not valid; try again");
  await tx
    .updateTable("passkeys")
    .set({
      counter: String(authenticationInfo.newCounter),
      uses: sql<number>`uses + 1`,
      last_used_at: sql<Date>`now()`,
    })
    .where("id", "=", key.id)
    .execute();
  const user = { id: key.user_id, workspace_id: key.workspace_id, email_key: key.email_key };
  const session = await beginSession(
    tx,
    user,
    { method: "passkey", passkeyId: key.id },
    signInOriginOf(request),
  );
  return { userId: user.id, sessionId: session.id, cookie: session.cookie };
}

/** The library's error in words for the user. */
function refusalOf(error: unknown): PasskeyError {
  const message = error instanceof Error ? error.message : String(error);
  if (/counter/i.test(message))
    return new PasskeyError(
      "this passkey may have been copied: its counter is lower than before. Sign in another way and remove it",
    );
  if (/origin|RP ID/i.test(message))
    return new PasskeyError("this passkey was used on another website; open the server by its own address");
  if (/user verification/i.test(message))
    return new PasskeyError("the passkey did not verify its user, as with a PIN or a fingerprint");
  return new PasskeyError("the browser's response is not valid; try again");
}
