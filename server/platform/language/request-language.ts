import { parseCookie, stringifySetCookie } from "cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import { chooseLanguage, knownLanguages } from "../../../shared/languages.ts";
import { type I18n, i18nFor } from "./i18n.ts";

/** The texts for the reader of a page; see `languageOf`. */
export function i18nOf(request: FastifyRequest, account?: string | null): Promise<I18n> {
  return i18nFor(languageOf(request, account));
}

/**
 * The language of the reader: the one of their account, else of the browser.
 * @param account of the signed-in user, null for the browser's. Left out where none is signed in: then the last account of
 * this browser counts.
 */
export function languageOf(request: FastifyRequest, account?: string | null): string {
  const chosen = account === undefined ? rememberedLanguage(request) : account;
  if (chosen !== null && knownLanguages.includes(chosen)) return chosen;
  return chooseLanguage(acceptedLanguages(request.headers["accept-language"]));
}

const cookieName = "parley_language";
const yearSec = 31_536_000;

/** Makes signed-out pages in this browser follow the account's language, as a `Set-Cookie` header. */
export function languageCookie(account: string | null): string {
  return stringifySetCookie({
    name: cookieName,
    value: account ?? "",
    maxAge: account === null ? 0 : yearSec,
    httpOnly: true,
    sameSite: "lax",
    path: "/",
  });
}

/** The same with a page of a signed-in user, if the browser doesn't know it yet. */
export function rememberLanguage(request: FastifyRequest, reply: FastifyReply, account: string | null): void {
  if (rememberedLanguage(request) !== account) reply.header("set-cookie", languageCookie(account));
}

function rememberedLanguage({ headers: { cookie } }: FastifyRequest): string | null {
  const value = cookie === undefined ? undefined : parseCookie(cookie)[cookieName];
  return value === undefined || value === "" ? null : value;
}

/** Longer than any browser sends. */
const maxHeader = 1000;

/** The languages of the header, the most wanted first. Source: RFC 9110, section 12.5.4. */
export function acceptedLanguages(header: string | undefined): readonly string[] {
  if (header === undefined || header.length > maxHeader) return [];
  return header
    .split(",")
    .map((range) => {
      const [tag = "", ...parameters] = range.split(";").map((part) => part.trim());
      const weight = parameters.find((parameter) => /^q=/i.test(parameter))?.slice(2);
      return { tag, weight: weight === undefined ? 1 : Number(weight) };
    })
    .filter(({ tag, weight }) => /^[a-z\d-]+$/i.test(tag) && weight > 0 && weight <= 1)
    .sort((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag);
}
