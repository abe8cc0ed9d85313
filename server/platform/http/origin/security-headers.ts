import type { FastifyInstance, FastifyReply } from "fastify";
import { filesPrefix } from "../listening/protocol.ts";

/** For responses that are not pages: loads nothing and can't be framed. */
const plainPolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** For files: a browser that opens one shows it in its own viewer page, which loads the file and inline styles. */
const filePolicy =
  "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Browser features that responses forbid. */
const browserFeatures = [
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
];

/** Features that the recorder uses; only pages of the web app may. */
const recorderFeatures = new Set(["camera", "display-capture", "microphone"]);

const permissionsPolicy = (allowed: ReadonlySet<string>): string =>
  browserFeatures.map((name) => `${name}=(${allowed.has(name) ? "self" : ""})`).join(", ");

/**
 * Security headers of every response. A route can override them: pages set their Content-Security-Policy, embeddable pages
 * call `allowFraming`. Source: OWASP Secure Headers Project.
 *
 * - Referrer-Policy is `same-origin`, since URLs contain signatures and one-time links. Not `no-referrer`: with it
 *   browsers send `Origin: null` with the app's own forms (Fetch, "append a request Origin header").
 * - Strict-Transport-Security covers only this host, not subdomains, which the operator may use otherwise.
 * - Files may be loaded by pages of other origins: their links carry the permission.
 */
export function sendSecurityHeaders(app: FastifyInstance, { baseUrl }: { readonly baseUrl: string }): void {
  const common = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "permissions-policy": permissionsPolicy(new Set()),
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
 * Allows pages of other sites to show this response in a frame.
 * @param policy the page's Content-Security-Policy, without `frame-ancestors`.
 */
export function allowFraming(reply: FastifyReply, policy: string): void {
  reply.removeHeader("x-frame-options");
  reply.headers({
    "content-security-policy": `${policy}; frame-ancestors *`,
    "cross-origin-resource-policy": "cross-origin",
  });
}

/** Allows a page of the web app to record screen, camera and microphone, after the browser has asked the user. */
export function allowRecording(reply: FastifyReply): void {
  reply.header("permissions-policy", permissionsPolicy(recorderFeatures));
}
