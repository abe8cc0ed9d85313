import type { FastifyRequest } from "fastify";
import { chooseLanguage } from "../../../shared/languages.ts";
import { type I18n, i18nFor } from "./i18n.ts";

/**
 * The texts for whom a page is rendered.
 * @param account the signed-in account's language; null for the browser's.
 */
export function i18nOf(request: FastifyRequest, account: string | null = null): Promise<I18n> {
  return i18nFor(account ?? chooseLanguage(acceptedLanguages(request.headers["accept-language"])));
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
