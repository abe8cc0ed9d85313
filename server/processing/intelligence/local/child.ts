import type { ChatHistoryItem, LlamaChat, LlamaContextSequence, LlamaGrammar } from "node-llama-cpp";
import { runProgram } from "../../models/engine/program.ts";
import { createGrammar } from "./grammar.ts";
import { openLlama } from "./llama.ts";
import type { LanguageProgress, LanguageRequest, LanguageResult, LanguageTask } from "./protocol.ts";

/** The same transcript gives the same result. */
const seed = 1;
/** How often progress is sent. */
const progressEveryMs = 500;
/** Share of reading in the progress of a request; writing has the rest. */
const readShare = 0.7;

/** The program that runs a language model. */
await runProgram<LanguageTask, LanguageRequest, LanguageProgress, LanguageResult>(async (task) => {
  const { llama, model, context, contextSequence, chatWrapper } = await openLlama(task);
  const { LlamaChat } = await import("node-llama-cpp");
  const chat = new LlamaChat({ contextSequence, ...(chatWrapper === null ? {} : { chatWrapper }) });
  return async (request, onProgress) => {
    const grammar = await createGrammar(llama, request.schema);
    const history = historyOf(request);
    const { contextText } = chat.chatWrapper.generateContextState({ chatHistory: history });
    const promptTokens = contextText.tokenize(model.tokenizer).length;
    if (promptTokens + request.maxOutputTokens > context.contextSize)
      return { text: "", isTruncated: true, inputTokens: 0, outputTokens: 0 };
    return generate(chat, contextSequence, {
      history,
      grammar,
      promptTokens,
      maxTokens: request.maxOutputTokens,
      onProgress,
    });
  };
});

async function generate(
  chat: LlamaChat,
  sequence: LlamaContextSequence,
  request: {
    readonly history: ChatHistoryItem[];
    readonly grammar: LlamaGrammar;
    readonly promptTokens: number;
    readonly maxTokens: number;
    readonly onProgress: (progress: LanguageProgress) => void;
  },
): Promise<LanguageResult> {
  const { promptTokens, maxTokens } = request;
  let unsent = "";
  const before = sequence.tokenMeter.getState();
  const written = (): number => sequence.tokenMeter.diff(before).usedOutputTokens;
  const report = (): void => {
    const read = Math.min(1, sequence.nextTokenIndex / promptTokens);
    const fraction = readShare * read + (1 - readShare) * Math.min(1, written() / maxTokens);
    request.onProgress({ fraction, text: unsent });
    unsent = "";
  };
  const timer = setInterval(report, progressEveryMs);
  try {
    const { response, metadata } = await chat.generateResponse(request.history, {
      grammar: request.grammar,
      maxTokens,
      temperature: 0,
      seed,
      budgets: { thoughtTokens: 0 },
      onTextChunk(text) {
        unsent += text;
      },
    });
    report();
    return {
      text: response,
      isTruncated: metadata.stopReason === "maxTokens",
      inputTokens: promptTokens,
      outputTokens: written(),
    };
  } finally {
    clearInterval(timer);
  }
}

function historyOf({ system, messages }: LanguageRequest): ChatHistoryItem[] {
  return [
    { type: "system", text: system },
    ...messages.map(
      ({ role, content }): ChatHistoryItem =>
        role === "user" ? { type: "user", text: content } : { type: "model", response: [content] },
    ),
    { type: "model", response: [] },
  ];
}
