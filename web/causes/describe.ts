import { i18n } from "@lingui/core";
import { plural, t } from "@lingui/core/macro";
import type { Cause, CauseCode, CauseValues } from "../../contract/causes/causes.ts";
import type { FileCauses } from "../../contract/causes/files.ts";
import type { ErrorCode, Violation } from "../../contract/errors.ts";
import { sourceLanguage } from "../../shared/languages.ts";
import { codeTexts, vagueCodes } from "./codes.ts";
import { fileTexts } from "./files.ts";
import { requestTexts } from "./requests.ts";
import { ruleTexts } from "./rules.ts";
import { plainText, textOf } from "./sentences.ts";

/** What the text of each cause names. */
type Values = { readonly [Code in CauseCode]: CauseValues<Code> } & FileCauses;

/** The app's text for each cause: a code without one does not compile. */
const causeTexts: { readonly [Code in keyof Values]: (values: Values[Code]) => string } = {
  ...requestTexts,
  ...ruleTexts,
  ...fileTexts,
};

interface KnownCause<Code extends keyof Values> {
  readonly code: Code;
  readonly values: Values[Code];
}

/** Codes never change their meaning, so the values of a known one are those that its text names. */
function isKnown(cause: Cause): cause is Cause & KnownCause<keyof Values> {
  return Object.hasOwn(causeTexts, cause.code);
}

/** The text of a cause; undefined for one that a newer server added. */
function causeText(cause: Cause): string | undefined {
  return isKnown(cause) ? knownText(cause) : undefined;
}

function knownText<Code extends keyof Values>({ code, values }: KnownCause<Code>): string {
  return causeTexts[code](values);
}

interface Problem {
  /** One of `codeTexts`, unless a newer server added it. */
  readonly error: string;
  readonly detail: string;
  readonly cause?: Cause | undefined;
  readonly violations?: readonly Violation[] | undefined;
}

/** The text of an error, and those of its violations in place of the server's. */
export function problemTexts(problem: Problem): { readonly text: string; readonly violations: Violation[] } {
  const violations = (problem.violations ?? []).map((violation) => ({
    ...violation,
    detail: violationText(violation),
  }));
  return { text: problemText(problem, violations), violations };
}

function problemText({ error, detail, cause }: Problem, violations: readonly Violation[]): string {
  const known = cause && causeText(cause);
  if (known !== undefined) return known;
  const [first] = violations;
  if (first !== undefined) return pointedText(first, violations.length - 1);
  const code = Object.hasOwn(codeTexts, error) ? (error as ErrorCode) : "wrong_state";
  if (!vagueCodes.has(code)) return codeTexts[code]();
  return plainText(sentenceOfDetail(detail)) ?? withDetail(codeTexts[code](), detail);
}

function violationText({ cause, detail }: Violation): string {
  const known = (cause && causeText(cause)) ?? plainText(sentenceOfDetail(detail));
  return known ?? withDetail(t`Can't be used`, detail);
}

/** Details are written as the end of a message, without a capital and a period. */
function sentenceOfDetail(detail: string): string {
  return `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`;
}

/** A violation for a form without its field. */
function pointedText({ pointer, detail }: Violation, others: number): string {
  const field = pointer.slice(1);
  const text = field === "" ? detail : t`${field}: ${detail}`;
  return others === 0 ? text : plural(others, { one: `${text} (and # more)`, other: `${text} (and # more)` });
}

/** English details with a translated text before them. In English, the details say it all. */
function withDetail(text: string, detail: string): string {
  const sentence = detail.charAt(0).toUpperCase() + detail.slice(1);
  return i18n.locale === sourceLanguage ? sentence : t`${text} (in English: ${sentence})`;
}

export { textOf };

/** The text of a cause, or a sentence of the server where there is none. */
export function detailText(cause: Cause | undefined, detail: string): string {
  return (cause && causeText(cause)) ?? withDetail(t`This isn't possible at the moment.`, detail);
}

/** Why a file failed, from its causes; the server's text where it has none, or one that is unknown. */
export function failureText(causes: readonly Cause[] | undefined, reason: string): string {
  const texts = (causes ?? []).map(causeText);
  if (texts.length > 0 && texts.every((text) => text !== undefined)) return texts.join(" ");
  return plainText(reason) ?? withDetail(t`The upload failed.`, reason);
}
