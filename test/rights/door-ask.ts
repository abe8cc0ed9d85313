import type { DoorCaller } from "./callers.ts";
import type { World } from "./world.ts";

/** What a door is asked with; the walk adds the session or the token of a caller that has one. */
export interface DoorAsk {
  /** With the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** One request, or several that must all end the same. */
export type MakeDoorAsks = (
  world: World,
  caller: DoorCaller,
) => DoorAsk | DoorAsk[] | Promise<DoorAsk | DoorAsk[]>;

export function sendForm(path: string, fields: Readonly<Record<string, string>>, cookie?: string): DoorAsk {
  return {
    path,
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      ...(cookie === undefined ? {} : { cookie }),
    },
    body: new URLSearchParams(fields).toString(),
  };
}

export function sendJson(
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): DoorAsk {
  return { path, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
}
