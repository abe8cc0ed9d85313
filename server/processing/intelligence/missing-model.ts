import { because, type Explanation } from "../../../contract/causes/causes.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Executor } from "../../platform/db/database.ts";
import { canUseLanguageModel, hasLanguageModel } from "../models/index.ts";
import { findSettings } from "./budget.ts";

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

/** As `findModelState`, for questions: the process that takes one asks the model itself. */
export async function findQuestionState(...args: Parameters<typeof findModelState>): Promise<ModelState> {
  const state = await findModelState(...args);
  return state === "ready" && !(await canUseLanguageModel(args[1])) ? "not_installed" : state;
}

/**
 * What is missing, and who can provide it, in one sentence without its full stop.
 * @param subject in the plural, such as "questions".
 */
export function explainMissing(subject: string, state: Exclude<ModelState, "ready">): Explanation {
  return because(`language_model_${state}`, { subject });
}
