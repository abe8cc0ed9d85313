import { type NotificationState, streamNotifications } from "../../contract/workspace/notifications.ts";

/** What the server's stream says, to every tab. */
type Message =
  | { readonly type: "state"; readonly unread: number }
  | { readonly type: "comments"; readonly recordingId: string }
  /** Messages may have been missed. */
  | { readonly type: "missed" };

/** The lock of the tab that has the stream, and the channel by which it passes messages on: tabs of another user have others. */
const nameOf = (userId: string): string => `parley-notifications-${userId}`;
/** What a tab that begins to follow asks for. */
const ask = "ask";
/** Pause before connecting again after a response that was no stream, such as that of a proxy while the server restarts. */
const retryMs = 15_000;
const clockMs = 5000;
/** A clock that stood still for longer means that the computer slept, and connections may be dead without an error. */
const sleepMs = 30_000;

/**
 * Follows the server's stream of notifications. Browsers allow six connections to a host, so all tabs share one stream: the
 * visible tab that holds the lock has it. Where there are no locks, as in pages without https, each visible tab has its own.
 * @returns ends it.
 */
export function followStream(userId: string, listener: (message: Message) => void): () => void {
  const name = nameOf(userId);
  const channel = "locks" in navigator ? new BroadcastChannel(name) : null;
  let source: EventSource | null = null;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let last: Message | null = null;
  let leading: AbortController | null = null;
  let hasBeenOpen = false;

  function emit(message: Message): void {
    listener(message);
    channel?.postMessage(message);
  }

  function close(): void {
    clearTimeout(retry);
    source?.close();
    source = null;
    last = null;
  }

  function open(): void {
    close();
    const opened = new EventSource(streamNotifications.path);
    source = opened;
    // Also the first time: the page was loaded before.
    opened.onopen = () => {
      emit({ type: "missed" });
      hasBeenOpen = true;
    };
    opened.onmessage = ({ data }: MessageEvent<string>) => {
      const { unread }: NotificationState = JSON.parse(data);
      last = { type: "state", unread };
      emit(last);
    };
    opened.addEventListener("comments", ({ data }: MessageEvent<string>) => {
      const { recording_id: recordingId }: { recording_id: string } = JSON.parse(data);
      emit({ type: "comments", recordingId });
    });
    // The server lost its own connection to the database.
    opened.addEventListener("missed", () => emit({ type: "missed" }));
    // Where it isn't closed, the browser connects again.
    opened.onerror = () => {
      if (opened.readyState === EventSource.CLOSED) retry = setTimeout(open, retryMs);
    };
  }

  /** Has the stream as soon as no other tab has it. */
  function lead(): void {
    if (leading !== null) return;
    const own = new AbortController();
    leading = own;
    if (channel === null) {
      open();
      return;
    }
    channel.postMessage(ask);
    navigator.locks
      .request(name, { signal: own.signal }, async () => {
        open();
        await new Promise((resolve) => own.signal.addEventListener("abort", resolve));
      })
      // Another tab had it until this one was hidden.
      .catch(() => undefined);
  }

  function resign(): void {
    leading?.abort();
    leading = null;
    close();
  }

  function follow(): void {
    if (document.visibilityState !== "visible") {
      resign();
      return;
    }
    if (hasBeenOpen) listener({ type: "missed" });
    lead();
  }

  let clock = Date.now();
  const timer = setInterval(() => {
    if (Date.now() - clock > sleepMs && source !== null) open();
    clock = Date.now();
  }, clockMs);
  channel?.addEventListener("message", ({ data }: MessageEvent<Message | typeof ask>) => {
    if (data !== ask) {
      if (!hasBeenOpen) listener({ type: "missed" });
      hasBeenOpen = true;
      listener(data);
    } else if (source !== null && last !== null) channel.postMessage(last);
  });
  document.addEventListener("visibilitychange", follow);
  follow();
  return () => {
    document.removeEventListener("visibilitychange", follow);
    clearInterval(timer);
    resign();
    channel?.close();
  };
}
