import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { LanguageModel, ModelRequest } from "../../server/processing/intelligence/language-model.ts";
import { localModel } from "../../server/processing/intelligence/local/local-model.ts";
import type { LanguageTask } from "../../server/processing/intelligence/local/protocol.ts";
import { installModel } from "../../server/processing/models/install.ts";
import { appRequest, ask, type Client, createUpload, publicRequest, untilRecording } from "../api.ts";
import type { BareLlamaRequest } from "../bare-llama.ts";
import type { Bench } from "../bench.ts";
import { makeUser } from "../data/people.ts";
import { compare, p99Of, takeTurns } from "../load.ts";
import { type Figure, figure, ratioFigure } from "../report.ts";
import { watchEngine } from "./speech.ts";

const tiny = fileURLToPath(new URL("../../test/fixtures/language/tiny-random.gguf", import.meta.url));
const contextTokens = 8192;

/**
 * The built-in language model: how much memory its process takes, how fast it reads and writes, against a bare loop over the
 * same library, and how fast a list is while it works. The default model is tiny: the targets are for a model of the real
 * size (`--language-model`).
 */
export async function measureLanguage({ postgres, start, sizes }: Bench): Promise<Figure[]> {
  const path = sizes.language.model ?? tiny;
  const data = await postgres.database("parley_language", "1", (db) =>
    makeUser(db, "Northwind", "northwind.example"),
  );
  const dataDir = join(postgres.folder, data.connection.database);
  mkdirSync(dataDir, { recursive: true });
  await installModel(dataDir, "bench", { type: "file", path });
  const name = `language model of ${(statSync(path).size / 1e6).toFixed(1)} MB`;

  const task: LanguageTask = { model: path, threads: sizes.language.threads, contextTokens, usesGpu: false };
  const model = await localModel(
    { ...task, engine: "local", isRequired: true, model: "bench", maxTokensPerDay: null },
    { dataDir, session: data.db.session },
  );
  const watch = watchEngine(process.pid);
  const bare = await startBare(task);
  const figures: Figure[] = [];
  try {
    const read = await readOnce(model, sizes.language.read);
    const reading = await takeTurns(
      sizes.rounds,
      async () => (1000 * read) / (await bare.time({ read, write: 0 })),
      async () => perSecond(() => readOnce(model, sizes.language.read)),
    );
    figures.push(ratioFigure(`${name}: reading, to a bare loop`, " tokens/s", reading, { min: 0.9 }));
    // Read once; then the same request only writes.
    const { inputTokens, outputTokens } = await model.ask(writing(sizes.language.write));
    const before = inputTokens ?? 0;
    const written = await takeTurns(
      sizes.rounds,
      async () =>
        (1000 * (outputTokens ?? 0)) / (await bare.time({ read: before, write: outputTokens ?? 1 })),
      async () => perSecond(async () => (await model.ask(writing(sizes.language.write))).outputTokens ?? 0),
    );
    figures.push(ratioFigure(`${name}: writing, to a bare loop`, " tokens/s", written, { min: 0.9 }));
  } finally {
    bare.stop();
    await model.close();
  }
  const engineMb = watch();
  const goal = { max: 2048 + Math.ceil(statSync(path).size / 2 ** 20) };
  const measured = engineMb === null ? "not known" : `${engineMb.toFixed(0)} MB`;
  figures.push(figure(`${name}: memory of the engine`, engineMb, measured, " MB", goal));

  const server = await start(data, { PARLEY_TRANSCRIPTION_THREADS: "1", PARLEY_LLM: "local" });
  const client: Client = { server, token: data.made.token };
  const page = publicRequest(client, "POST", "/recordings", {});
  const idle = await p99Of(sizes, page);
  const upload = await createUpload(client, "transcript", { title: "Long", transcript: longTranscript });
  const id = await untilRecording(client, upload.id);
  const status = appRequest(client, "GET", `/recordings/${id}/intelligence`);
  while ((await ask<{ status: string }>(status)).status === "pending") await delay(50);
  const busy = await p99Of(sizes, page);
  figures.push(
    ratioFigure(
      `${name}: p99 of a list while it works, to an idle server`,
      " ms",
      compare([{ baseline: idle, subject: busy }]),
      { max: 1.3 },
    ),
  );
  await server.stop();
  return figures;
}

let round = 0;

/** Has the model read a text that it has not read. @returns the tokens. */
async function readOnce(model: LanguageModel, words: number): Promise<number> {
  round += 1;
  const text = `${round} `.padEnd(words * 2, "a b c d e ");
  const { inputTokens } = await model.ask(requestOf(`${round}`, text, { type: "boolean" }, 12));
  return inputTokens ?? 0;
}

/** A request whose response can only be this long. */
const writing = (letters: number): ModelRequest =>
  requestOf("Write", "Write.", { const: "a b c d e ".repeat(letters / 10) }, contextTokens / 2);

function requestOf(system: string, content: string, value: object, maxOutputTokens: number): ModelRequest {
  const json = {
    ...{ type: "object", properties: { value }, required: ["value"], additionalProperties: false },
  };
  const messages = [{ role: "user", content }] as const;
  return { system, messages, schema: { name: "bench", json }, maxOutputTokens };
}

async function perSecond(work: () => Promise<number>): Promise<number> {
  const startedAt = performance.now();
  const tokens = await work();
  return (1000 * tokens) / (performance.now() - startedAt);
}

async function startBare(task: LanguageTask) {
  const child = fork(new URL("../bare-llama.ts", import.meta.url), [JSON.stringify(task)]);
  await once(child, "message");
  return {
    /** @returns milliseconds. */
    async time(request: BareLlamaRequest): Promise<number> {
      const done = once(child, "message");
      child.send(request);
      return Number((await done)[0]);
    },
    stop: () => void child.kill(),
  };
}

/** An hour of meeting. */
const longTranscript = {
  language: "en",
  segments: Array.from({ length: 400 }, (_, n) => ({
    ...{ speaker_key: `s${n % 2}`, start: n * 9000, end: (n + 1) * 9000 },
    text: `This is what we say about point number ${n}, and there is more to say about it, as everybody knows.`,
  })),
};
