import type { Target } from "../load.ts";

const prefix = "/_/public-api/v2";

/** A request of the public API, as clients send it. */
export function apiRequest(
  server: { readonly url: string },
  token: string,
  method: "GET" | "POST",
  path: string,
  body?: unknown,
): Target {
  const text = body === undefined ? "" : JSON.stringify(body);
  return {
    url: `${server.url}${prefix}${path}`,
    method,
    headers: {
      authorization: `Bearer ${token}`,
      "public-api-version": "2026-10-01",
      ...(text === ""
        ? {}
        : { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) }),
    },
    body: text,
  };
}

/** Sends a request once and gives the body. */
export async function fetchBytes(target: Target): Promise<{ contentType: string; bytes: Buffer }> {
  const { method, headers, body } = target;
  const { "content-length": _, ...rest } = headers;
  const response = await fetch(target.url, { method, headers: rest, ...(body === "" ? {} : { body }) });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${target.url} returned ${response.status}: ${bytes}`);
  return { contentType: response.headers.get("content-type") ?? "", bytes };
}
