import type { TestApp } from "../../../../test/support/app.ts";
import { commandLine } from "../../../platform/audit/record.ts";
import type { Database } from "../../../platform/db/database.ts";
import { createScimToken } from "../tokens/tokens.ts";

/** A response of SCIM. */
interface ScimResponse {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response and assert on what they find.
  readonly body: any;
}

/** Sends a SCIM request, as an identity provider does. */
export type SendScim = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<ScimResponse>;

/** A SCIM token of a workspace that no admin created. */
export function makeScimToken(db: Database, workspace: { readonly id: string }) {
  return db.kysely.transaction().execute((tx) => createScimToken(tx, commandLine(workspace.id), "test"));
}

/** Sends requests with a token; bodies that are text are sent as they are. */
export function scimClient(app: TestApp, token: string): SendScim {
  return async (method, path, body, headers = {}) => {
    const response = await fetch(`${app.url}/_/scim/v2${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/scim+json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === "" ? null : JSON.parse(text),
    };
  };
}
