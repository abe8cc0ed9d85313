import assert from "node:assert/strict";
import { cheapHash } from "../../../../test/support/passwords.ts";
import type { Database } from "../../../platform/db/database.ts";

/** The response of a page. */
export interface PageResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Where it redirects to; null without a redirect. */
  readonly location: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response and assert on what they find.
  readonly body: any;
}

interface SendOptions {
  readonly form?: Record<string, string>;
  readonly json?: unknown;
  readonly headers?: Record<string, string>;
}

/** A minimal browser for sign-in: it keeps cookies and submits forms from their page. */
export interface Browser {
  /** Cookies by name. */
  readonly cookies: Map<string, string>;
  get(path: string, headers?: Record<string, string>): Promise<PageResponse>;
  send(method: string, path: string, options?: SendOptions): Promise<PageResponse>;
  /** Loads a page and submits its form with these fields and its hidden ones. */
  submit(path: string, fields: Record<string, string>): Promise<PageResponse>;
}

/** Opens a browser that follows no redirects. */
export function openBrowser(app: { readonly url: string }): Browser {
  const cookies = new Map<string, string>();

  async function send(
    method: string,
    path: string,
    { form, json, headers }: SendOptions = {},
  ): Promise<PageResponse> {
    const body =
      form !== undefined
        ? new URLSearchParams(form).toString()
        : json === undefined
          ? undefined
          : JSON.stringify(json);
    const response = await fetch(new URL(path, app.url), {
      method,
      redirect: "manual",
      headers: {
        ...(cookies.size > 0
          ? { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") }
          : {}),
        ...(body === undefined
          ? {}
          : { "content-type": form ? "application/x-www-form-urlencoded" : "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
    for (const line of response.headers.getSetCookie()) keep(cookies, line);
    const text = await response.text();
    const isJson = /json/.test(response.headers.get("content-type") ?? "");
    return {
      status: response.status,
      headers: response.headers,
      text,
      location: response.headers.get("location"),
      body: isJson ? JSON.parse(text) : undefined,
    };
  }

  return {
    cookies,
    send,
    get: (path, headers) => send("GET", path, headers === undefined ? {} : { headers }),
    async submit(path, fields) {
      const page = await send("GET", path);
      return send("POST", actionOf(page.text) ?? path, {
        form: { ...hiddenFields(page.text), ...fields },
        headers: { origin: app.url, "sec-fetch-site": "same-origin" },
      });
    },
  };
}

function keep(cookies: Map<string, string>, line: string): void {
  const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
  assert.ok(name !== undefined && value !== undefined, line);
  if (/max-age=0/i.test(line)) cookies.delete(name);
  else cookies.set(name, value);
}

function actionOf(page: string): string | undefined {
  return /<form method="post" action="([^"]+)"/.exec(page)?.[1];
}

/** Hidden fields of a page by name. */
export function hiddenFields(page: string): Record<string, string> {
  return Object.fromEntries(
    [...page.matchAll(/<input type="hidden" name="([^"]+)"[^>]* value="([^"]*)"/g)].map(([, name, value]) => [
      name ?? "",
      (value ?? "").replaceAll("&amp;", "&"),
    ]),
  );
}

export const password = "a heron at low tide";

/** Gives users a password, the same for all, that is cheap to verify. */
export async function givePassword(db: Database, ...users: { readonly id: string }[]): Promise<void> {
  await db.kysely
    .updateTable("users")
    .set({ password_hash: await cheapHash(password) })
    .where(
      "id",
      "in",
      users.map(({ id }) => id),
    )
    .execute();
}

/** Signs in with the sign-in page. */
export async function signInAs(
  app: { readonly url: string },
  user: { readonly email: string },
): Promise<Browser> {
  const browser = openBrowser(app);
  const answer = await browser.submit("/sign-in", { email: user.email, password });
  assert.equal(answer.status, 303, answer.text);
  return browser;
}

/** Deletes all counted attempts, so that one test does not throttle the next. */
export async function deleteAllAttempts(db: Database): Promise<void> {
  await db.kysely.deleteFrom("sign_in_failures").execute();
  await db.kysely.deleteFrom("known_ip_addresses").execute();
}

/** The audit log of a workspace, in order. */
export async function auditOf(db: Database, workspaceId: string) {
  return db.kysely
    .selectFrom("audit_log")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .orderBy("id")
    .execute();
}
