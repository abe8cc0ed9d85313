import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import { decryptState, encryptState } from "../sign-in/encrypted-state.ts";
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
  addCookie(reply, ownCookie(baseUrl, "second_factor", encryptState(encryptor, value), ttlSec));
  return seeOther(reply, "/sign-in/code");
}

/** The sign-in that this browser has started; null when there is none or it has expired. */
export function startedSignIn(
  request: FastifyRequest,
  { encryptor, baseUrl }: Dependencies,
): (StartedSignIn & { readonly next: string }) | null {
  return decryptState(encryptor, Started, ownCookieOf(request, baseUrl, "second_factor"));
}

/** Removes what `askForCode` kept in the browser. */
export function forgetStartedSignIn(reply: FastifyReply, baseUrl: string): void {
  addCookie(reply, ownCookie(baseUrl, "second_factor", "", 0));
}
