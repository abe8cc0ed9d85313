import { defineRecurringJob } from "../../platform/jobs/define.ts";
import { isLanguage } from "../models/catalogue.ts";
import { isMachineTaken } from "../models/engine/machine-lock.ts";
import { listInstalled } from "../models/store.ts";
import { findMinutesPerHour, saveTrial } from "../models/trial.ts";
import { tryModel } from "./local/local-model.ts";

/** Folders of models whose trial failed in this process; a restart tries again. */
const failed = new Set<string>();

/** Measures the speed of each language model once after its installation, so that its card says how long meetings take. */
export const tryLanguageModelsKind = defineRecurringJob({
  name: "try_language_models",
  label: (i18n) => i18n.t("Try language models"),
  every: "sweep",
  isEnabled: ({ languageModel }) => languageModel?.engine === "local",
  async handler({ db: { session }, config: { languageModel, dataDir }, log, signal }) {
    if (languageModel?.engine !== "local") return;
    for (const model of (await listInstalled(dataDir)).filter(isLanguage)) {
      if (failed.has(model.folder) || (await findMinutesPerHour(model)) !== null) continue;
      // At a later sweep, when no recording waits for the machine.
      if (await isMachineTaken(session)) return;
      try {
        await saveTrial(model, await tryModel(model, languageModel, { dataDir, session }, signal));
      } catch (error) {
        signal.throwIfAborted();
        failed.add(model.folder);
        log.warn({ err: error, model: model.name }, "could not measure the speed of a language model");
      }
    }
  },
});
