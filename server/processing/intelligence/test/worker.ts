import { pino } from "pino";
import { readConfig } from "../../../platform/config/config.ts";
import { openDatabase } from "../../../platform/db/database.ts";
import { summarizeRecording } from "../job.ts";
import { openAiModel } from "../server/openai.ts";
import { quickRetry } from "./retry.ts";

/** A worker in its own process, which tests kill: runs the job of one recording. */
const { PARLEY_TEST_DATABASE: database = "", PARLEY_TEST_RECORDING: recordingId = "", ...env } = process.env;
const config = readConfig(env, process.cwd());
if (config.languageModel?.engine !== "server") throw new Error("no language model is set up");
await summarizeRecording(
  {
    db: openDatabase(JSON.parse(database), { onError: () => {} }),
    settings: config.languageModel,
    model: openAiModel(config.languageModel),
    log: pino({ level: "silent" }),
    retry: quickRetry,
  },
  recordingId,
);
