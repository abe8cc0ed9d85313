import type { z } from "zod";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";

/** What a browser keeps between two steps: each kind names itself, so that none passes for another, and has an end. */
interface State {
  readonly encryptedFor: string;
  /** In ms since 1970. */
  readonly expires: number;
}

/** Encrypts the state of a step for a cookie. Encryption also proves that this server made it. */
export function encryptState(encryptor: Encryptor, state: State): string {
  return encryptor.encrypt(JSON.stringify(state)).toString("base64url");
}

/** The state in a cookie; null without one, if it has expired, was modified, or was encrypted with another secret. */
export function decryptState<S extends State>(
  encryptor: Encryptor,
  schema: z.ZodType<S>,
  cookie: string | undefined,
): S | null {
  if (cookie === undefined || cookie === "") return null;
  try {
    const state = schema.parse(JSON.parse(encryptor.decrypt(Buffer.from(cookie, "base64url"))));
    return state.expires > Date.now() ? state : null;
  } catch {
    return null;
  }
}
