/** An event of a `text/event-stream`. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

/**
 * Reads the events of a stream from its text, part by part, as this server sends them: lines end with `\n`, and an event has
 * one line of data. An event that the stream does not finish is none. Source:
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export function createEventReader(): (part: string) => ServerSentEvent[] {
  let rest = "";
  return (part) => {
    const blocks = (rest + part).split("\n\n");
    rest = blocks.pop() ?? "";
    return blocks.flatMap((block) => {
      const [, event, data] = /^event: (\w+)\ndata: ([^\n]*)$/.exec(block) ?? [];
      // A comment, which only keeps the connection in use.
      return event === undefined || data === undefined ? [] : [{ event, data }];
    });
  };
}
