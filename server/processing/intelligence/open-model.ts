import type { Config } from "../../platform/config/config.ts";
import type { Database } from "../../platform/db/database.ts";
import type { LanguageModel } from "./language-model.ts";
import { localModel } from "./local/local-model.ts";
import { openAiModel } from "./server/openai.ts";

/**
 * Opens the language model of the settings; the caller closes it.
 * @returns null when there is none.
 * @throws ModelServerError when it is the built-in one, and no model is installed.
 */
export async function openLanguageModel({
  config: { languageModel, dataDir },
  db: { session },
}: {
  readonly config: Pick<Config, "languageModel" | "dataDir">;
  readonly db: Pick<Database, "session">;
}): Promise<LanguageModel | null> {
  if (languageModel === null) return null;
  if (languageModel.engine === "server") return openAiModel(languageModel);
  return localModel(languageModel, { dataDir, session });
}
