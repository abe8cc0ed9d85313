/** An event of a `text/event-stream`. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
}

/**
 * Reads the events of a stream from its text, part by part; an event that the stream does not finish is none. Source: HTML,
 * "Server-sent events", as far as this server sends them: lines end with `\n`, and an event has one line of data.
 */
export function createEventReader(): (part: string) => ServerSentEvent[] {
  let rest = "";
  return (part) => {
    const blocks = (rest + part).split("\n\n");
    rest = blocks.pop() ?? "";
    return blocks.flatMap((block) => {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      // A comment, which only keeps the connection in use.
      return event === undefined || data === undefined ? [] : [{ event, data }];
    });
  };
}
