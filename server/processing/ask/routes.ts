import * as contract from "../../../contract/ask/ask.ts";
import type { Principal } from "../../platform/auth/principal.ts";
import { ProblemError } from "../../platform/http/errors/problem.ts";
import { type Api, Ready, route } from "../../platform/http/routing/route.ts";
import * as queries from "./queries.ts";
import { type AskDependencies, ask, refuseWorkspaceToken, threadNotFound } from "./service.ts";

const pageSize = 50;

/** Turns that Get Thread returns: the last ones. */
const maxTurns = 200;

/** Asking, and the threads of the caller. */
export function askRoutes(api: Api, deps: AskDependencies): void {
  const { db } = deps;

  route(
    api,
    contract.ask,
    async ({ principal, body, request }) =>
      new Ready(await ask(deps, principal, request, body), {
        "content-type": "text/event-stream; charset=utf-8",
        // nginx would keep the events until there are many.
        "x-accel-buffering": "no",
      }),
  );

  route(api, contract.listThreads, async ({ principal, query }) => {
    refuseWorkspaceToken(principal);
    const rows = await queries.findThreads(db.kysely, principal.userId, {
      recordingId: query.recording_id,
      after: query.cursor === undefined ? null : decodeCursor(query.cursor),
      limit: pageSize + 1,
    });
    const shown = rows.slice(0, pageSize);
    const last = shown.at(-1);
    return {
      threads: shown.map(present),
      cursor: rows.length > pageSize && last !== undefined ? encodeCursor(last) : null,
    };
  });

  const find = async (principal: Principal, threadId: string): Promise<queries.ThreadRow> => {
    refuseWorkspaceToken(principal);
    const thread = await queries.findThread(db.kysely, principal.userId, threadId);
    if (thread === undefined) throw threadNotFound(threadId);
    return thread;
  };

  route(api, contract.getThread, async ({ principal, params }) => {
    const thread = await find(principal, params.thread_id);
    const turns = await queries.findTurns(db.kysely, principal, thread.id, maxTurns);
    return {
      ...present(thread),
      turns: turns.map(({ number: _, created_at, statements, ...turn }) => ({
        ...turn,
        message: turn.message ?? (turn.state === "failed" ? "The answer was interrupted." : null),
        statements: [...statements],
        created_datetime: created_at.toISOString(),
      })),
    };
  });

  route(api, contract.updateThread, async ({ principal, params, body }) => {
    refuseWorkspaceToken(principal);
    await queries.renameThread(db.kysely, principal.userId, params.thread_id, body.title);
    return present(await find(principal, params.thread_id));
  });

  route(api, contract.deleteThread, async ({ principal, params }) => {
    refuseWorkspaceToken(principal);
    if (!(await queries.deleteThread(db.kysely, principal.userId, params.thread_id)))
      throw threadNotFound(params.thread_id);
    return { success: true } as const;
  });
}

function present({ id, title, recording_id, created_at, updated_at }: queries.ThreadRow) {
  return {
    id,
    title,
    recording_id,
    created_datetime: created_at.toISOString(),
    updated_datetime: updated_at.toISOString(),
  };
}

function encodeCursor({ updated_at, id }: queries.ThreadRow): string {
  return Buffer.from(`${updated_at.getTime()}:${id}`).toString("base64url");
}

function decodeCursor(cursor: string): { at: Date; id: string } {
  const [, ms, id] = /^(\d{1,15}):([0-9a-f-]{36})$/.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (ms === undefined || id === undefined)
    throw new ProblemError("invalid_cursor", "the cursor is not from this list; leave it out to start again");
  return { at: new Date(Number(ms)), id };
}
