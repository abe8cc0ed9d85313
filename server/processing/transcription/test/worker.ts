import { pino } from "pino";
import { readConfig } from "../../../platform/config/config.ts";
import { openDatabase } from "../../../platform/db/database.ts";
import { openStore } from "../../../platform/storage/open.ts";
import { transcribeRecordingJob } from "../job.ts";
import { openAiTranscriber } from "../server/openai.ts";
import { cutEvery, quickRetry } from "./transcription.ts";

/** A worker in a process of its own, for the tests to kill: runs the job of one recording. */
const { PARLEY_TEST_DATABASE: database = "", PARLEY_TEST_RECORDING: recordingId = "", ...env } = process.env;
const config = readConfig(env, process.cwd());
if (config.transcription?.engine !== "server") throw new Error("transcription is not set up");
await transcribeRecordingJob(
  {
    db: openDatabase(JSON.parse(database), { onError: () => {} }),
    store: await openStore(config),
    config,
    transcriber: openAiTranscriber(config.transcription),
    extractSpeech: cutEvery(4000),
    log: pino({ level: "silent" }),
    retry: quickRetry,
  },
  recordingId,
);
