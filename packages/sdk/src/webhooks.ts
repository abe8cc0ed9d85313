import type { Webhooks } from "./generated/types.gen.ts";

/** An event as a webhook receives it; its `type` tells which data it has. */
export type WebhookEvent = Webhooks["body"];

export interface SignedRequest {
  /** The body byte for byte as received, before JSON is parsed. */
  readonly body: string | Uint8Array;
  /** The request's headers: a `Headers`, or Node's object of lower-case names. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The webhook's signing secret, `whsec_…`. */
  readonly secret: string;
  /** How far the request's time may differ from this machine's clock. Default: 300 seconds. */
  readonly toleranceSec?: number;
}

/** A request that did not come from Parley, or was captured and sent again. Return 401. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
}

/**
 * Checks the signature of a webhook's request (Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`).
 * @returns the event and the message's id. A message may arrive twice with the same id: skip the ids that were processed.
 * @throws WebhookVerificationError if the signature or its time is wrong.
 */
export async function verifyWebhook(request: SignedRequest): Promise<{ id: string; event: WebhookEvent }> {
  const { secret, toleranceSec = 300 } = request;
  const body = typeof request.body === "string" ? new TextEncoder().encode(request.body) : request.body;
  const id = readHeader(request.headers, "webhook-id");
  const timestamp = readHeader(request.headers, "webhook-timestamp");
  const signatures = readHeader(request.headers, "webhook-signature");
  if (id === null || timestamp === null || signatures === null)
    throw new WebhookVerificationError("the request is not signed");
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!(age <= toleranceSec))
    throw new WebhookVerificationError("the request is too old, or the clocks of the two machines differ");
  const key = await readKey(secret);
  const prefix = new TextEncoder().encode(`${id}.${timestamp}.`);
  const message = new Uint8Array(prefix.length + body.length);
  message.set(prefix);
  message.set(body, prefix.length);
  // While a secret is rotated there are two signatures. The header is bounded by every HTTP server.
  for (const signature of signatures.split(" ")) {
    const [scheme, value = ""] = signature.split(",", 2);
    const bytes = scheme === "v1" ? decodeBase64(value) : null;
    if (bytes !== null && (await crypto.subtle.verify("HMAC", key, bytes, message)))
      return { id, event: JSON.parse(new TextDecoder().decode(body)) as WebhookEvent };
  }
  throw new WebhookVerificationError("the signature does not match: is this the secret of this webhook?");
}

async function readKey(secret: string): Promise<CryptoKey> {
  const bytes = secret.startsWith("whsec_") ? decodeBase64(secret.slice("whsec_".length)) : null;
  if (bytes === null || bytes.length === 0) throw new TypeError("the secret must begin with whsec_");
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function readHeader(headers: SignedRequest["headers"], name: string): string | null {
  if (headers instanceof Headers) return headers.get(name);
  const value = headers[name];
  return typeof value === "string" ? value : (value?.[0] ?? null);
}

/** @returns null if the text is not base64. */
function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
