import type { RuleRefusal } from "../../../../contract/accounts/security.ts";
import type { ErrorCode } from "../../../../contract/errors.ts";
import type { ProblemError } from "../../../platform/http/errors/problem.ts";
import type { Localized } from "../../../platform/language/i18n.ts";
import { maxBytes, minCharacters, type PasswordProblem } from "../sign-in/password-rules.ts";

/** The head and the text of a page about an error. */
interface ErrorText {
  readonly title: Localized;
  readonly text: Localized;
}

const errorTexts: Readonly<Partial<Record<ErrorCode, ErrorText>>> = {
  forbidden: {
    title: (i18n) => i18n.t("Please try again"),
    text: (i18n) =>
      i18n.t("This form came from another site, or the page was open for too long. Nothing was changed."),
  },
  rate_limited: {
    title: (i18n) => i18n.t("Too many attempts"),
    text: (i18n) => i18n.t("Wait a minute and try again."),
  },
  body_too_large: {
    title: (i18n) => i18n.t("Form too large"),
    text: (i18n) => i18n.t("The form contains more text than allowed."),
  },
  unavailable: {
    title: (i18n) => i18n.t("Temporarily unavailable"),
    text: (i18n) => i18n.t("The server is busy at the moment. Try again shortly."),
  },
};

const otherError: ErrorText = {
  title: (i18n) => i18n.t("The request is malformed"),
  text: (i18n) => i18n.t("The browser sent something that this page doesn't expect. Go back and try again."),
};

/** An error in words for users who know nothing of requests and tokens. */
export function describeError(error: ProblemError): ErrorText {
  const rule = ruleTexts[error.cause?.code ?? ""];
  if (rule !== undefined) return { title: (i18n) => i18n.t("Your workspace doesn't allow this"), text: rule };
  return errorTexts[error.code] ?? otherError;
}

/** Why the rules of the user's workspace refuse a sign-in, by cause. */
const ruleTexts: Readonly<Record<string, Localized>> = {
  rule_address: (i18n) =>
    i18n.t(
      "Your workspace allows access from certain IP addresses only. Connect to its network, or ask an admin.",
    ),
  rule_session_age: (i18n) =>
    i18n.t("The session has reached the longest life that your workspace allows. Sign in again."),
  rule_session_idle: (i18n) =>
    i18n.t("The session was not used for as long as your workspace allows. Sign in again."),
  rule_token_age: (i18n) =>
    i18n.t("The token has reached the longest life that your workspace allows. Create a new one."),
  rule_single_sign_on: (i18n) =>
    i18n.t(
      "Your workspace allows single sign-on only. Sign in with it, and create tokens and authorize apps again.",
    ),
  rule_second_factor: (i18n) =>
    i18n.t("Your workspace requires a second factor. Sign in with a browser and set it up."),
} satisfies Record<`rule_${RuleRefusal}`, Localized>;

/** Why a password is refused. */
export const passwordTexts: Readonly<Record<PasswordProblem, Localized>> = {
  short: (i18n) =>
    i18n.t("The password needs at least {count, plural, one {# character} other {# characters}}.", {
      count: minCharacters,
    }),
  long: (i18n) =>
    i18n.t("The password must be at most {count, plural, one {# byte} other {# bytes}} long.", {
      count: maxBytes,
    }),
  email: (i18n) => i18n.t("The password must not be the email address."),
  common: (i18n) => i18n.t("The password is too easy to guess. Choose another."),
};

/** What to do after too many attempts. */
export function waitText(seconds: number): Localized {
  return seconds < 90
    ? (i18n) =>
        i18n.t("Too many attempts. Try again in {seconds, plural, one {# second} other {# seconds}}.", {
          seconds,
        })
    : (i18n) =>
        i18n.t("Too many attempts. Try again in {minutes, plural, one {# minute} other {# minutes}}.", {
          minutes: Math.ceil(seconds / 60),
        });
}

export const wrongPassword: Localized = (i18n) => i18n.t("Incorrect email or password.");
