import { z } from "zod";
import { quotaTexts, requestTexts } from "./requests.ts";
import { ruleTexts } from "./rules.ts";

/**
 * Why something was refused or failed: stable codes that are finer than those of `errors.ts`, each with its English text,
 * which may name values. The web app has a text of its own for each, in the language of the reader.
 */
const causeTexts = { ...requestTexts, ...quotaTexts, ...ruleTexts } as const;

type CauseTexts = typeof causeTexts;
export type CauseCode = keyof CauseTexts;
export type QuotaCause = keyof typeof quotaTexts;

/** What the text of a cause names. */
export type CauseValues<Code extends CauseCode> = CauseTexts[Code] extends (values: infer Values) => string
  ? Values
  : Readonly<Record<never, never>>;

/** A cause as responses have it. */
export const Cause = z
  .strictObject({
    code: z
      .string()
      .meta({ description: "Machine-readable code; never changes its meaning. More codes are added." }),
    values: z
      .record(z.string(), z.union([z.string(), z.number(), z.array(z.string())]))
      .meta({ description: "What the text names, such as a limit." }),
  })
  .meta({ id: "Cause", description: "Why exactly, for clients with texts of their own." });

export type Cause = z.input<typeof Cause>;

/** Why a file failed. */
export const FailureCauses = z
  .array(Cause)
  .meta({ description: "The same for clients with texts of their own. Absent where `reason` has none." });

/** A text and its cause. */
export interface Explanation {
  readonly detail: string;
  readonly cause: Cause;
}

/** The values of a cause as arguments: none where its text names none. */
type CauseArguments<Code extends CauseCode> = CauseTexts[Code] extends (
  ...values: infer Values extends readonly object[]
) => string
  ? Values
  : [];

/** The English text of a cause, with its code and values. */
export function because<Code extends CauseCode>(code: Code, ...values: CauseArguments<Code>): Explanation {
  const texts: { readonly [Each in CauseCode]: string | ((...values: CauseArguments<Each>) => string) } =
    causeTexts;
  const text = texts[code];
  const detail = typeof text === "string" ? text : text(...values);
  return {
    detail,
    cause: { code, values: Object.fromEntries(values.flatMap((named) => Object.entries(named))) },
  };
}

const constantTexts: ReadonlyMap<string, CauseCode> = new Map(
  Object.entries(causeTexts).flatMap(([code, text]) =>
    typeof text === "string" ? [[text, code as CauseCode] as const] : [],
  ),
);

/** The cause with this text, if it names no values. The rules of schemas are written as such texts. */
export function causeOf(text: string): Cause | undefined {
  const code = constantTexts.get(text);
  return code === undefined ? undefined : { code, values: {} };
}
