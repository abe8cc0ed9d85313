import type { Readable } from "node:stream";

/** Calls back for each line of a stream; with null, and then never again, when a line is longer than the limit. */
export function readLines(input: Readable, maxBytes: number, onLine: (line: string | null) => void): void {
  let parts: Buffer[] = [];
  let bytes = 0;
  const onData = (data: Buffer): void => {
    let from = 0;
    for (let at = data.indexOf(10); at !== -1; at = data.indexOf(10, from)) {
      parts.push(data.subarray(from, at));
      from = at + 1;
      onLine(Buffer.concat(parts).toString("utf8"));
      parts = [];
      bytes = 0;
    }
    parts.push(data.subarray(from));
    bytes += data.length - from;
    if (bytes <= maxBytes) return;
    input.off("data", onData);
    input.resume();
    parts = [];
    onLine(null);
  };
  input.on("data", onData);
}
