import assert from "node:assert/strict";
import type { Database } from "../db/database.ts";
import { hashPassword } from "./passwords.ts";

/** What a page answered. */
export interface PageAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Where it leads to; null when nowhere. */
  readonly location: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of an answer and assert on what they find.
  readonly body: any;
}

interface SendOptions {
  readonly form?: Record<string, string>;
  readonly json?: unknown;
  readonly headers?: Record<string, string>;
}

/** A browser as far as sign-in goes: it keeps cookies and sends forms from the page they are on. */
export interface Browser {
  /** Cookies by name. */
  readonly cookies: Map<string, string>;
  get(path: string, headers?: Record<string, string>): Promise<PageAnswer>;
  send(method: string, path: string, options?: SendOptions): Promise<PageAnswer>;
  /** Loads a page and sends its form with these fields on top of the hidden ones. */
  submit(path: string, fields: Record<string, string>): Promise<PageAnswer>;
}

/** Opens one. Nothing is followed by itself. */
export function openBrowser(app: { readonly url: string }): Browser {
  const cookies = new Map<string, string>();

  async function send(
    method: string,
    path: string,
    { form, json, headers }: SendOptions = {},
  ): Promise<PageAnswer> {
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

/** Gives users a password, the same for all: hashing takes its time. */
export async function givePassword(db: Database, ...users: { readonly id: string }[]): Promise<void> {
  await db.kysely
    .updateTable("users")
    .set({ password_hash: await hashPassword(password) })
    .where(
      "id",
      "in",
      users.map(({ id }) => id),
    )
    .execute();
}

/** Signs in by the page. */
export async function signInAs(
  app: { readonly url: string },
  user: { readonly email: string },
): Promise<Browser> {
  const browser = openBrowser(app);
  const answer = await browser.submit("/sign-in", { email: user.email, password });
  assert.equal(answer.status, 303, answer.text);
  return browser;
}

/** Forgets all counted attempts, so that one test does not slow down the next. */
export async function forgetAll(db: Database): Promise<void> {
  await db.kysely.deleteFrom("sign_in_failures").execute();
  await db.kysely.deleteFrom("known_addresses").execute();
}

/** What the audit log has of a workspace, in order. */
export async function auditOf(db: Database, workspaceId: string) {
  return db.kysely
    .selectFrom("audit_log")
    .selectAll()
    .where("workspace_id", "=", workspaceId)
    .orderBy("id")
    .execute();
}
