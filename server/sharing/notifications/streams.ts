import { PassThrough, type Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyBaseLogger } from "fastify";
import pg from "pg";
import { commentsPrefix, notificationChannel } from "../../people/events/notify.ts";
import type { Database } from "../../platform/db/database.ts";
import { findViewers, readStates } from "./queries.ts";

/** How often a stream shows proxies that it is used: many close a connection after a minute without a byte. */
const heartbeatMs = 45_000;

/** After this many heartbeats, states are read without a notification of the database; without a connection, after each. */
const beatsBetweenReads = 10;

/** How long to wait for further changes, so that a change for many users is read once. */
const collectMs = 20;

/** Pause before connecting again, and before reading again after a failure. */
const retryMs = 2000;

const timeoutMs = 10_000;

/** Streams of a user in this process; the oldest ends when another begins. */
const maxPerUser = 1000;

/** Users whose states are read by one statement. */
const batch = 500;

interface Opened {
  readonly stream: PassThrough;
  /** The last message, which is not repeated. */
  last: string | null;
}

/** The streams of notifications of this process. */
export interface NotificationStreams {
  /** A stream that sends the state of a user's notifications at once and whenever it changes. */
  open(userId: string): Readable;
  /** Ends all streams. */
  close(): Promise<void>;
}

/**
 * All streams of a process share a connection that the database notifies of changes, a timer, and the statement that reads
 * the states of users. Messages are states, not events: what a stream missed is in its next message. Only changes of comments
 * are events, after which pages read them; where the database could not announce some, pages are notified that they missed events.
 */
export function createNotificationStreams({
  db,
  log,
}: {
  readonly db: Pick<Database, "pool" | "session">;
  readonly log: Pick<FastifyBaseLogger, "debug" | "warn">;
}): NotificationStreams {
  const users = new Map<string, Opened[]>();
  const changed = new Set<string>();
  /** Recordings whose comments changed. */
  const commented = new Set<string>();
  const closing = new AbortController();
  let sending: Promise<void> | null = null;
  let listening: Promise<void> | null = null;
  let heartbeat: NodeJS.Timeout | null = null;
  let beats = 0;
  let isListening = false;
  /** Whether events may have been missed since a connection was lost. */
  let hasMissed = false;
  let isFailing = false;
  let endListening = (): void => undefined;

  function open(userId: string): Readable {
    const stream = new PassThrough();
    const opened: Opened = { stream, last: null };
    const streams = users.get(userId) ?? [];
    users.set(userId, streams);
    streams.push(opened);
    if (streams.length > maxPerUser) streams[0]?.stream.end();
    stream.once("close", () => remove(userId, opened));
    if (closing.signal.aborted) {
      stream.end();
      return stream;
    }
    // The response begins at once, whatever the database does.
    stream.write(": connected\n\n");
    listening ??= listen();
    heartbeat ??= setInterval(beat, heartbeatMs).unref();
    refresh([userId]);
    return stream;
  }

  function remove(userId: string, opened: Opened): void {
    const left = (users.get(userId) ?? []).filter((one) => one !== opened);
    if (left.length > 0) users.set(userId, left);
    else users.delete(userId);
    if (users.size === 0 && heartbeat !== null) {
      clearInterval(heartbeat);
      heartbeat = null;
    }
  }

  function beat(): void {
    for (const streams of users.values()) for (const { stream } of streams) stream.write(": alive\n\n");
    beats += 1;
    if (!isListening || beats % beatsBetweenReads === 0) refresh(users.keys());
  }

  /** Takes a notification of the database. */
  function hear(payload: string): void {
    if (!payload.startsWith(commentsPrefix)) {
      refresh([payload]);
      return;
    }
    if (users.size > 0) commented.add(payload.slice(commentsPrefix.length));
    refresh([]);
  }

  function refresh(userIds: Iterable<string>): void {
    for (const userId of userIds) if (users.has(userId)) changed.add(userId);
    if (changed.size + commented.size > 0)
      sending ??= send().finally(() => {
        sending = null;
        // Changed since the last batch was taken.
        if (!closing.signal.aborted) refresh([]);
      });
  }

  async function send(): Promise<void> {
    await sleep(collectMs);
    const userIds = [...changed].slice(0, batch);
    for (const userId of userIds) changed.delete(userId);
    const recordingIds = new Set(commented);
    commented.clear();
    try {
      await sendStates(userIds);
      for (const recordingId of recordingIds) {
        await sendComments(recordingId);
        recordingIds.delete(recordingId);
      }
      isFailing = false;
    } catch (error) {
      // Once for each time without the database.
      log[isFailing ? "debug" : "warn"]({ err: error }, "the states of notifications could not be read");
      isFailing = true;
      await sleep(retryMs, undefined, { signal: closing.signal }).catch(() => undefined);
      for (const userId of userIds) if (users.has(userId)) changed.add(userId);
      if (users.size > 0) for (const recordingId of recordingIds) commented.add(recordingId);
    }
  }

  async function sendStates(userIds: readonly string[]): Promise<void> {
    for (const [userId, state] of await readStates(db.pool, userIds)) {
      const message = `id: ${state.newest?.id ?? ""}\ndata: ${JSON.stringify(state)}\n\n`;
      for (const opened of users.get(userId) ?? []) {
        if (opened.last === message || opened.stream.writableEnded) continue;
        opened.last = message;
        opened.stream.write(message);
      }
    }
  }

  /** Tells the users who can see a recording at this moment that its comments changed. */
  async function sendComments(recordingId: string): Promise<void> {
    const event = `event: comments\ndata: ${JSON.stringify({ recording_id: recordingId })}\n\n`;
    for (const userId of await findViewers(db.pool, recordingId, [...users.keys()]))
      for (const { stream } of users.get(userId) ?? []) if (!stream.writableEnded) stream.write(event);
  }

  async function listen(): Promise<void> {
    while (!closing.signal.aborted) {
      await listenOnce().catch((error: Error) =>
        log.debug({ err: error }, "no notifications of the database; reading states by time"),
      );
      hasMissed = true;
      await sleep(retryMs, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  }

  async function listenOnce(): Promise<void> {
    const client = new pg.Client({
      ...db.session,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
    });
    const ended = Promise.withResolvers<void>();
    endListening = ended.resolve;
    client.on("error", (error) => {
      log.debug({ err: error }, "the connection for notifications is lost");
      ended.resolve();
    });
    client.on("end", ended.resolve);
    client.on("notification", ({ payload = "" }) => hear(payload));
    try {
      await client.connect();
      await client.query(`listen ${notificationChannel}`);
      isListening = true;
      // What happened while nobody listened.
      refresh(users.keys());
      if (hasMissed)
        for (const streams of users.values())
          for (const { stream } of streams)
            if (!stream.writableEnded) stream.write("event: missed\ndata: {}\n\n");
      hasMissed = false;
      await ended.promise;
    } finally {
      isListening = false;
      await client.end().catch(() => undefined);
    }
  }

  return {
    open,
    async close() {
      closing.abort();
      endListening();
      for (const streams of users.values()) for (const { stream } of streams) stream.end();
      if (heartbeat !== null) clearInterval(heartbeat);
      await Promise.all([sending, listening]);
    },
  };
}
