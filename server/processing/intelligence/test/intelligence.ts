import { pino } from "pino";
import { call, startTestApp, type TestAppOptions } from "../../../../test/support/app.ts";
import { makeRecording, makeUser, makeWorkspace } from "../../../../test/support/factories.ts";
import { startModelServer } from "../../../../test/support/model-server.ts";
import { until } from "../../../../test/support/until.ts";
import { type IntelligenceDependencies, summarizeRecording } from "../job.ts";
import { openAiModel } from "../server/openai.ts";
import type { TransportLimits } from "../server/transport.ts";
import { quickRetry } from "./retry.ts";

/** Two participants, one of whom is a user, and an unknown speaker. */
export const harbour = {
  language: "en",
  segments: [
    { speaker_key: "a", start: 0, end: 4000, text: "Good morning, shall we begin?" },
    {
      speaker_key: "b",
      start: 4200,
      end: 9000,
      text: "I will send the harbour contract to the port on Friday.",
    },
    { speaker_key: "c", start: 9100, end: 12_000, text: "See https://port.example/contract for the draft." },
    { speaker_key: "a", start: 12_500, end: 15_000, text: "Good. I will sign it once it is back." },
  ],
} as const;

/** The parts of a run that tests check. */
export interface Run {
  readonly status: string;
  readonly message: string;
  readonly last_error: string | null;
  readonly notes: string[];
  readonly attempts: number;
  readonly next_attempt_datetime: string | null;
  readonly used_tokens: number;
}

/** Starts Parley and a fake model server, with helpers for tests. */
export async function startIntelligence(
  options: Pick<TestAppOptions, "env" | "recurring" | "worker"> & {
    limits?: Partial<TransportLimits>;
    /** When recordings are announced; immediately by default, which keeps the order of events simple. */
    recordingAdded?: "when_ready" | "immediately";
  } = {},
) {
  const model = await startModelServer();
  const { limits, recordingAdded, ...appOptions } = options;
  const app = await startTestApp({
    ...appOptions,
    env: {
      PARLEY_LLM_URL: model.url,
      PARLEY_LLM_MODEL: "small",
      PARLEY_LLM_API_KEY: "sk-secret-key",
      ...options.env,
    },
  });
  const { db, config } = app;
  if (config.languageModel?.engine !== "server") throw new Error("no language model is set up");
  const client = openAiModel(config.languageModel, { silenceMs: 20_000, ...limits });
  const deps: IntelligenceDependencies = {
    db,
    settings: config.languageModel,
    model: client,
    log: pino({ level: "silent" }),
    retry: quickRetry,
  };
  const workspace = await makeWorkspace(db);
  await db.pool.query("update workspaces set recording_added = $1", [recordingAdded ?? "immediately"]);
  const ben = await makeUser(db, workspace, { name: "Ben Bird" });

  const manage = (method: string, path: string, body?: unknown, token = workspace.token) =>
    call(app, method, `/_/api/v1${path}`, body, { token, version: null });

  /** The recording's run. */
  async function runOf(recordingId: string): Promise<Run> {
    return (await manage("GET", `/recordings/${recordingId}/intelligence`)).body;
  }

  return {
    app,
    db,
    deps,
    model,
    client,
    workspace,
    ben,
    manage,
    runOf,
    /** Creates a recording of the harbour meeting through the API. */
    async make(attributes: Record<string, unknown> = {}): Promise<string> {
      const { recordingId } = await makeRecording(app, workspace.member.token, {
        transcript: harbour,
        participants: [
          { name: "Anna Adams", email: "anna@port.example", speaker_key: "a" },
          { name: ben.name, email: ben.email, speaker_key: "b" },
        ],
        ...attributes,
      });
      return recordingId;
    },
    /** Runs the job as a worker does, where there is none. */
    run: (recordingId: string, changes: Partial<IntelligenceDependencies> = {}, signal?: AbortSignal) =>
      summarizeRecording({ ...deps, ...changes }, recordingId, signal),
    /** Waits until the worker has finished a recording's run. */
    done: (recordingId: string): Promise<Run> =>
      until(`the model has understood ${recordingId}`, async () => {
        const run = await runOf(recordingId);
        if (run.status === "failed") throw new Error(run.message);
        return run.status === "done" && run;
      }),
    /** Reads the recording with these includes. */
    async read(recordingId: string, include: unknown, version?: string) {
      const { body } = await call(
        app,
        "POST",
        `/recordings/${recordingId}`,
        { include },
        { token: workspace.token, ...(version === undefined ? {} : { version }) },
      );
      return body;
    },
    /** The types of a recording's events without those of its transcription's progress, in order. */
    async events(recordingId: string): Promise<string[]> {
      const rows = await db.kysely
        .selectFrom("events")
        .select("type")
        .where("type", "<>", "transcription_updated")
        .where("subject_id", "=", recordingId)
        .orderBy("id")
        .execute();
      return rows.map((row) => row.type);
    },
  };
}
