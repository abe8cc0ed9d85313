import { basicAuthorization } from "../../../platform/outbound/target.ts";
import type { HookResponse } from "../transport/send.ts";

const placeholder = "[redacted]";

/** Shorter passwords would match ordinary words all over a response. */
const minSecretLength = 4;

/**
 * Removes a hook's credentials from what a receiver returned: some receivers echo the request's headers, and responses
 * are kept in the delivery log.
 */
export function redactCredentials<Response extends Pick<HookResponse, "body" | "error">>(
  response: Response,
  credentials: string | null,
): Response {
  if (credentials === null) return response;
  const password = credentials.slice(credentials.indexOf(":") + 1);
  const secrets = [basicAuthorization(credentials).slice("Basic ".length), credentials, password].filter(
    (secret) => secret.length >= minSecretLength,
  );
  const redact = (text: string): string =>
    secrets.reduce((rest, secret) => rest.replaceAll(secret, placeholder), text);
  return {
    ...response,
    body: redact(response.body),
    error: response.error === null ? null : redact(response.error),
  };
}
