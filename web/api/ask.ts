import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { z } from "zod";
import * as contract from "../../contract/ask/ask.ts";
import { createEventReader } from "../../shared/server-sent-events.ts";
import { isSignedOut, readProblem, unreachable } from "./client/api-error.ts";
import { type Body, call } from "./client/call.ts";
import { reportSignedOut, untilSignedIn } from "./client/signed-out.ts";

export type AskEvent = contract.AskEvent;
export type AskFilter = z.input<typeof contract.AskFilter>;
export type Thread = z.output<typeof contract.getThread.response>;
export type AskState = z.output<typeof contract.getAskState.response>["status"];

type ThreadPage = z.output<(typeof contract.listThreads)["response"]>;

/** Whether questions can be asked. */
export const askStateQuery = queryOptions({
  queryKey: ["ask", "state"],
  staleTime: 60_000,
  queryFn: async ({ signal }): Promise<AskState> => (await call(contract.getAskState, { signal })).status,
});

/** The user's threads, the last one used first. */
export const threadsQuery = infiniteQueryOptions({
  queryKey: ["ask", "threads"],
  initialPageParam: null as string | null,
  getNextPageParam: (last: ThreadPage) => last.cursor,
  queryFn: ({ pageParam, signal }): Promise<ThreadPage> =>
    call(contract.listThreads, { signal, query: { cursor: pageParam } }),
});

export function threadQuery(threadId: string) {
  return queryOptions({
    queryKey: ["ask", "thread", threadId],
    queryFn: ({ signal }): Promise<Thread> =>
      call(contract.getThread, { params: { thread_id: threadId }, signal }),
  });
}

export const renameThread = (threadId: string, title: string) =>
  call(contract.updateThread, { params: { thread_id: threadId }, body: { title } });

export const deleteThread = (threadId: string) =>
  call(contract.deleteThread, { params: { thread_id: threadId } });

/** Attempts of one question, each after another sign-in. */
const maxAttempts = 3;

/**
 * Asks a question, and reports the events of its answer as they arrive. Aborting ends the model's work.
 * @throws ApiError when the question is refused or the connection is lost.
 */
export async function askQuestion(
  body: Body<typeof contract.ask>,
  signal: AbortSignal,
  onEvent: (event: AskEvent) => void,
): Promise<void> {
  try {
    const response = await send(body, signal);
    const parts = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const read = createEventReader();
    for (let part = await parts?.read(); part?.value !== undefined; part = await parts?.read())
      for (const { event, data } of read(part.value)) onEvent({ event, data: JSON.parse(data) } as AskEvent);
  } catch (error) {
    // What the browser reports of a connection.
    if (error instanceof TypeError && !signal.aborted) throw unreachable();
    throw error;
  }
}

async function send(body: Body<typeof contract.ask>, signal: AbortSignal): Promise<Response> {
  const { method, path } = contract.ask;
  for (let attempt = 1; ; attempt += 1) {
    await untilSignedIn(signal);
    const headers = { "content-type": "application/json", accept: "text/event-stream" };
    const response = await fetch(path, { method, headers, body: JSON.stringify(body), signal });
    if (response.ok) return response;
    const problem = await readProblem(response, await response.text());
    if (!isSignedOut(problem) || attempt === maxAttempts) throw problem;
    reportSignedOut();
  }
}
