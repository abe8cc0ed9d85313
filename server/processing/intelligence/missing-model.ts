import type { Config } from "../../platform/config/config.ts";
import type { Executor } from "../../platform/db/database.ts";
import { hasLanguageModel } from "../models/index.ts";
import { findSettings } from "./model/budget.ts";

/** Whether the users of a workspace have a language model, or why not. */
export type ModelState = "ready" | "not_installed" | "off" | "disabled";

export async function findModelState(
  db: Executor,
  config: Pick<Config, "languageModel" | "dataDir">,
  workspaceId: string,
): Promise<ModelState> {
  if (config.languageModel === null) return "off";
  if (!(await hasLanguageModel(config))) return "not_installed";
  return (await findSettings(db, workspaceId)).is_enabled ? "ready" : "disabled";
}

const reasons = {
  not_installed:
    "which an admin of this server can install in Settings → Language model, or the operator can connect with PARLEY_LLM_URL",
  off: "which is turned off on this server with PARLEY_LLM=off",
  disabled:
    "which is switched off for this workspace; an admin of the workspace can switch it on in Settings → Templates",
} as const satisfies Record<Exclude<ModelState, "ready">, string>;

/**
 * What is missing, and who can provide it, in one sentence without its full stop.
 * @param subject in the plural, such as "questions".
 */
export function describeMissing(subject: string, state: Exclude<ModelState, "ready">): string {
  return `${subject} need a language model, ${reasons[state]}`;
}
