import type { FastifyBaseLogger } from "fastify";
import { sentences } from "../../../../contract/sentences.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import { createSigner, type Signer } from "../transport/signing.ts";
import type { HookRow } from "./queries.ts";

interface Dependencies {
  readonly encryptor: Encryptor;
  readonly log: Pick<FastifyBaseLogger, "error">;
}

/** What a hook's requests are signed and authenticated with. */
export interface HookSecrets {
  readonly sign: Signer;
  /** `user:password`; null: none. */
  readonly credentials: string | null;
}

/**
 * Decrypts a hook's secrets and credentials. Signs with both secrets while the previous one is still valid, so that a
 * receiver can switch at any time during the overlap.
 * @returns a string if they can't be decrypted: the reason, with which every attempt fails.
 */
export function decryptSecrets(
  { encryptor, log }: Dependencies,
  hook: HookRow,
  now: Date,
): HookSecrets | string {
  const isOverlapping = hook.previous_secret !== null && (hook.previous_secret_until ?? now) > now;
  try {
    const sign = createSigner([
      encryptor.decrypt(hook.secret),
      ...(isOverlapping && hook.previous_secret ? [encryptor.decrypt(hook.previous_secret)] : []),
    ]);
    return { sign, credentials: hook.credentials === null ? null : encryptor.decrypt(hook.credentials) };
  } catch (error) {
    log.error({ err: error, hookId: hook.id }, "could not decrypt the secret of a webhook");
    return hook.credentials === null ? sentences.hook_secret_lost : sentences.hook_password_lost;
  }
}
