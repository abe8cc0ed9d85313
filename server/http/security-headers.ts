import type { FastifyInstance, FastifyReply } from "fastify";
import { filesPrefix } from "./protocol.ts";

/** For what is no page: nothing is loaded, and nobody shows it in a frame. */
const plainPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A browser that is led to a file shows it in a page of its own, which plays that file and styles itself. */
const filePolicy =
  "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Features of a browser that no page of ours uses. */
const unusedFeatures = [
  "accelerometer",
  "camera",
  "display-capture",
  "geolocation",
  "gyroscope",
  "hid",
  "magnetometer",
  "microphone",
  "midi",
  "payment",
  "serial",
  "usb",
].map((name) => `${name}=()`);

/**
 * What browsers are told with every answer. A route may say otherwise by setting a header itself: a page its
 * Content-Security-Policy, a page to be embedded calls `allowFraming`. Source: OWASP Secure Headers Project.
 *
 * - Referrer-Policy is `same-origin`, since addresses hold signatures and one-time links. Not `no-referrer`: with it
 *   browsers send `Origin: null` along with our own forms (Fetch, "append a request Origin header").
 * - Strict-Transport-Security names this host alone: what else the operator runs below it is theirs to decide.
 * - Files may be loaded by pages of other origins: their links carry the permission.
 */
export function sendSecurityHeaders(app: FastifyInstance, { baseUrl }: { readonly baseUrl: string }): void {
  const common = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "permissions-policy": unusedFeatures.join(", "),
    "cross-origin-opener-policy": "same-origin",
    ...(baseUrl.startsWith("https:") ? { "strict-transport-security": "max-age=31536000" } : {}),
  };
  const plain = {
    ...common,
    "content-security-policy": plainPolicy,
    "cross-origin-resource-policy": "same-origin",
  };
  const file = {
    ...common,
    "content-security-policy": filePolicy,
    "cross-origin-resource-policy": "cross-origin",
  };
  app.addHook("onRequest", (request, reply, done) => {
    reply.headers(request.url.startsWith(filesPrefix) ? file : plain);
    done();
  });
}

/**
 * Lets pages of other sites show this answer in a frame.
 * @param policy the page's Content-Security-Policy, without `frame-ancestors`.
 */
export function allowFraming(reply: FastifyReply, policy: string): void {
  reply.removeHeader("x-frame-options");
  reply.headers({
    "content-security-policy": `${policy}; frame-ancestors *`,
    "cross-origin-resource-policy": "cross-origin",
  });
}
