import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import { addCookie, ownCookie, ownCookieOf } from "../sign-in/session-cookie.ts";
import type { StartedSignIn } from "../sign-in/sign-in.ts";
import { seeOther } from "./page-parts.ts";

/** How long a user may take to enter the code. */
const ttlSec = 600;

/** A started sign-in. The browser keeps it, encrypted, until the user has entered the code. */
const Started = z.object({
  encryptedFor: z.literal("second_factor"),
  userId: z.string(),
  email: z.string(),
  method: z.enum(["password", "link"]),
  passwordKey: z.string(),
  next: z.string(),
  expires: z.number(),
});

interface Dependencies {
  readonly encryptor: Encryptor;
  readonly baseUrl: string;
}

/** Redirects to the page that asks for the code of the second factor, which then redirects to `next`. */
export function askForCode(
  reply: FastifyReply,
  { encryptor, baseUrl }: Dependencies,
  started: StartedSignIn,
  next: string,
): FastifyReply {
  const value: z.input<typeof Started> = {
    ...started,
    encryptedFor: "second_factor",
    next,
    expires: Date.now() + ttlSec * 1000,
  };
  const cookie = encryptor.encrypt(JSON.stringify(value)).toString("base64url");
  addCookie(reply, ownCookie(baseUrl, "second_factor", cookie, ttlSec));
  return seeOther(reply, "/sign-in/code");
}

/** The sign-in that this browser has started; null when there is none or it has expired. */
export function startedSignIn(
  request: FastifyRequest,
  { encryptor, baseUrl }: Dependencies,
): (StartedSignIn & { readonly next: string }) | null {
  const cookie = ownCookieOf(request, baseUrl, "second_factor");
  if (cookie === undefined || cookie === "") return null;
  try {
    const started = Started.parse(JSON.parse(encryptor.decrypt(Buffer.from(cookie, "base64url"))));
    return started.expires > Date.now() ? started : null;
  } catch {
    // Not a cookie of this server, modified, or encrypted with another secret.
    return null;
  }
}

/** Removes what `askForCode` kept in the browser. */
export function forgetStartedSignIn(reply: FastifyReply, baseUrl: string): void {
  addCookie(reply, ownCookie(baseUrl, "second_factor", "", 0));
}
