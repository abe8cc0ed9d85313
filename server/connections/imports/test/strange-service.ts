import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";

/** A recording of the service, and how its transcript and its media file are returned. */
interface StrangeRecording {
  /** Null: the service returns none. */
  readonly id: string | null;
  readonly title: string;
  /** The body of the transcript's response. */
  readonly transcript: string;
  /** Where the download redirects; absent: a transcript without a file. */
  readonly location?: string;
}

/** A service that has the contract's API, returns a page for browsers elsewhere, and whose recordings are strange. */
export async function startStrangeService(recordings: readonly StrangeRecording[]): Promise<string> {
  const at = "2026-01-15T14:00:00Z";
  const listed = recordings.map(({ id, title, location }) => ({
    ...{ id, title, start_datetime: at, end_datetime: at, duration_ms: 1000 },
    media_type: location === undefined ? "transcript" : "audio",
  }));
  return serve((path, response) => {
    const one = recordings.find(({ id }) => path.includes(`/v2/recordings/${id}/`));
    if (path.endsWith("/users")) response.end('{"users":[]}');
    else if (path.endsWith("/v2/recordings"))
      response.end(JSON.stringify({ cursor: null, recordings: listed }));
    else if (path.endsWith("/transcript")) response.end(one?.transcript);
    else if (path.endsWith("/download")) response.writeHead(302, { location: one?.location ?? "" }).end();
    else if (path.endsWith("/token-info")) response.end("{}");
    else response.end("<!doctype html>");
  });
}

/**
 * A service whose list never ends: each page has a new cursor and a recording with an id of so many characters.
 * @param control `limits`: every list responds 429 and Retry-After with so many seconds.
 */
export async function startEndlessService(
  idLength: number,
  control: { limits?: number } = {},
): Promise<string> {
  let page = 0;
  return serve((path, response) => {
    if (path.endsWith("/users")) response.end('{"users":[]}');
    else if (!path.endsWith("/v2/recordings")) response.end("{}");
    else if (control.limits !== undefined)
      response.writeHead(429, { "retry-after": String(control.limits) }).end();
    else {
      page += 1;
      const id = String(page).padEnd(idLength, "x");
      // The first list only checks the token.
      const recordings = page === 1 ? [] : [{ id, media_type: "audio" }];
      response.end(JSON.stringify({ cursor: `c${page}`, recordings }));
    }
  });
}

async function serve(respond: (path: string, response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    respond(decodeURIComponent(request.url ?? ""), response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
