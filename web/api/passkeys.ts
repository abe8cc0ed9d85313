import { t } from "@lingui/core/macro";
import { queryOptions } from "@tanstack/react-query";
import * as contract from "../../contract/accounts/passkeys.ts";
import { ApiError } from "./client/api-error.ts";
import { call } from "./client/call.ts";
import type { Session } from "./session.ts";

export const passkeysQuery = queryOptions({
  queryKey: ["passkeys"],
  queryFn: ({ signal }) => call(contract.listPasskeys, { signal }),
});

/** Whether this browser can create and use passkeys here; not without https, and not in old browsers. */
export function hasPasskeys(): boolean {
  return globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON !== undefined;
}

/** Creates a passkey with this browser. @throws ApiError with the reason in words. */
export async function addPasskey(name: string) {
  const { options } = await call(contract.startPasskey);
  const { id, rawId, response } = await ask(() =>
    navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }),
  );
  if (!("attestationObject" in response)) throw unexpected();
  const credential = { id, rawId, type: "public-key", response: { ...response } } as const;
  return call(contract.addPasskey, { body: { name, response: credential } });
}

/** Signs in with a passkey of this browser. @throws ApiError with the reason in words. */
export async function signInWithPasskey(): Promise<Session> {
  const { options } = await call(contract.startPasskeySignIn, { isAboutSession: true });
  const { id, rawId, response } = await ask(() =>
    navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }),
  );
  if (!("signature" in response)) throw unexpected();
  const credential = { id, rawId, type: "public-key", response: { ...response } } as const;
  return call(contract.signInWithPasskey, { body: { response: credential }, isAboutSession: true });
}

export const renamePasskey = (id: string, name: string) =>
  call(contract.renamePasskey, { params: { passkey_id: id }, body: { name } });

export const removePasskey = (id: string) => call(contract.removePasskey, { params: { passkey_id: id } });

/** Asks the browser. @throws ApiError when the user cancels, or the browser has no passkey. */
async function ask(request: () => Promise<Credential | null>) {
  try {
    const credential = await request();
    if (!(credential instanceof PublicKeyCredential)) throw unexpected();
    return credential.toJSON();
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError(0, "unreachable", () => reasonOf(error));
  }
}

function unexpected(): ApiError {
  return new ApiError(0, "unreachable", () => reasonOf(null));
}

function reasonOf(error: unknown): string {
  switch (error instanceof DOMException ? error.name : "") {
    case "NotAllowedError":
      return t`You canceled, or it took too long. Nothing was changed.`;
    case "InvalidStateError":
      return t`This device already has a passkey of your account.`;
    case "SecurityError":
      return t`Passkeys need https, and the address that this server is set up for.`;
    default:
      return t`The browser couldn't do that. Nothing was changed.`;
  }
}
