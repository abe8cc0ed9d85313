import { call, startTestApp, type TestAppOptions } from "../../test/support/app.ts";
import { makeWorkspace, sampleTranscript } from "../../test/support/factories.ts";
import type { SweepLog } from "./each-alone.ts";

// biome-ignore lint/suspicious/noExplicitAny: inputs here are often wrong on purpose.
export type Input = Record<string, any>;

/** A server with two workspaces, and what the tests of uploads do all the time. */
export async function startUploads(options: TestAppOptions = {}) {
  const app = await startTestApp(options);
  const workspace = await makeWorkspace(app.db);
  const { member } = workspace;
  const stranger = await makeWorkspace(app.db);

  function create(input: Input, token = member.token) {
    return call(app, "POST", "/uploads/create", { media_type: "transcript", ...input }, { token });
  }

  function staged(attributes: Input = {}, token = member.token) {
    return create(
      { auto_promote: false, attributes: { transcript: sampleTranscript, ...attributes } },
      token,
    );
  }

  /** Type and status of an upload's events, in order. */
  async function events(uploadId: string) {
    const rows = await app.db.kysely
      .selectFrom("events")
      .select(["type", "data"])
      .where("subject_id", "=", uploadId)
      .orderBy("id")
      .execute();
    return rows.map((row) => [row.type, (row.data as Record<string, unknown>).status]);
  }

  async function countUploads(): Promise<number> {
    const row = await app.db.kysely
      .selectFrom("uploads")
      .select((eb) => eb.fn.countAll<string>().as("count"))
      .executeTakeFirstOrThrow();
    return Number(row.count);
  }

  return { app, workspace, member, stranger, create, staged, events, countUploads };
}

/** A log that keeps what it was told of trouble, in words and as it was told. */
export function sweepLog() {
  const lines: string[] = [];
  const details: Input[] = [];
  const note = (detail: Input | string, message?: string): void => {
    lines.push(message ?? String(detail));
    if (typeof detail === "object") details.push(detail);
  };
  return { log: { info() {}, warn: note, error: note } as unknown as SweepLog, lines, details };
}
