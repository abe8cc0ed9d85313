import { type Finding, reasonOf, sentence } from "../health/finding.ts";

/** The result of one check of `parley doctor`. */
export interface Check {
  readonly check: string;
  /** `skipped`: not set up, or impossible after an earlier error. */
  readonly state: "ok" | "warning" | "error" | "skipped";
  readonly explanation: string;
  readonly remedy: string | null;
}

export const passed = (check: string, explanation: string): Check => ({
  check,
  state: "ok",
  explanation,
  remedy: null,
});

export const skipped = (check: string, explanation: string): Check => ({
  check,
  state: "skipped",
  explanation,
  remedy: null,
});

export const warning = (check: string, explanation: string, remedy: string): Check => ({
  check,
  state: "warning",
  explanation: sentence(explanation),
  remedy,
});

export const wrong = (check: string, explanation: string, remedy: string): Check => ({
  check,
  state: "error",
  explanation: sentence(explanation),
  remedy,
});

/** The test of a component as a check. */
export function checkOf(check: string, { state, explanation, remedy }: Finding): Check {
  const states = { ok: "ok", off: "skipped", failing: "error" } as const;
  return { check, state: states[state], explanation, remedy };
}

/** Runs a check; what it throws is its result. */
export async function tryCheck(check: string, remedy: string, work: () => Promise<Check>): Promise<Check> {
  try {
    return await work();
  } catch (error) {
    return wrong(check, reasonOf(error), remedy);
  }
}
