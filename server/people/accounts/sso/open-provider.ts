import type { Config } from "../../../platform/config/config.ts";
import type { SignInProvider } from "../../../platform/config/sign-in-providers.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database } from "../../../platform/db/database.ts";
import type { JobQueue } from "../../../platform/jobs/queue.ts";
import type { createSingleSignOnPages } from "./pages.ts";

type Pages = ReturnType<typeof createSingleSignOnPages>;

/** The pages of a provider of the settings by its ID; null without it. */
export type OpenProvider = (id: string) => Promise<Pages | null>;

/** Keeps the pages of each provider, with its metadata and keys, until its settings change. */
export function createOpenProvider(deps: {
  readonly db: Database;
  readonly jobs: JobQueue;
  readonly encryptor: Encryptor;
  readonly config: Pick<Config, "baseUrl" | "signInProviders" | "smtp">;
}): OpenProvider {
  const opened = new Map<string, { readonly settings: SignInProvider; readonly pages: Pages }>();
  return async (id) => {
    const { signInProviders: providers } = deps.config;
    const settings = providers.find((provider) => provider.id === id);
    for (const [known, { settings }] of opened) if (!providers.includes(settings)) opened.delete(known);
    if (settings === undefined) return null;
    const last = opened.get(id);
    if (last !== undefined) return last.pages;
    // Loaded only now: most servers have no provider.
    const { createSingleSignOnPages } = await import("./pages.ts");
    const pages = createSingleSignOnPages(settings, deps);
    opened.set(id, { settings, pages });
    return pages;
  };
}
