import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { readSession } from "../../../people/accounts/sign-in/authenticate.ts";
import { addCookie, ownCookie, ownCookieOf } from "../../../people/accounts/sign-in/session-cookie.ts";
import { originOf } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import type { SingleSignOnSettings } from "../../../platform/config/config.ts";
import { settings } from "../../../platform/config/settings.ts";
import type { Encryptor } from "../../../platform/crypto/encryptor.ts";
import type { Database } from "../../../platform/db/database.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import { type Html, html } from "../../../platform/pages/html.ts";
import { sendPage } from "../../../platform/pages/page.ts";
import { reasonOf } from "../health/finding.ts";
import { managesSystem } from "../operator.ts";
import { type ChangeDependencies, preview, type SettingChanges, savePassed } from "./change.ts";
import { textsOf } from "./live.ts";
import { findSettings } from "./queries.ts";

/** What the browser keeps, encrypted, while the admin is at the provider. */
const Pending = z.object({
  encryptedFor: z.literal("sign_in_test"),
  userId: z.string(),
  /** The values of the form. */
  changes: z.record(z.string(), z.string().nullable()),
  state: z.string(),
  /** The sign-in itself. */
  cookie: z.string(),
});

/** Browsers keep no larger cookies. */
const maxCookieLength = 3800;

const names: ReadonlySet<string> = new Set(Object.values(settings.singleSignOn).map(({ name }) => name));

/** A whole sign-in at a provider with the values of the form, before they are saved. It signs nobody in. */
export interface SignInTest {
  /** @returns the URL to open, and the cookie to set. */
  start(changes: SettingChanges, by: Principal): Promise<{ url: string; cookie: string }>;
  /** Shows the result of the test that this browser began; null: it began none, or another sign-in. */
  finish(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | null>;
}

export function createSignInTest(deps: ChangeDependencies): SignInTest {
  const { db, encryptor, config } = deps;
  const readSettings = async (changes: SettingChanges): Promise<SingleSignOnSettings | null> =>
    preview(config.sources, textsOf(await findSettings(db.kysely), encryptor), changes).singleSignOn;
  // Loaded only now, with its libraries.
  const open = async (provider: SingleSignOnSettings) => {
    const { openSingleSignOn } = await import("../../../people/accounts/sso/single-sign-on.ts");
    return openSingleSignOn(provider, { baseUrl: config.baseUrl, encryptor });
  };

  return {
    async start(all, { userId }) {
      const provider = await readSettings(all);
      if (provider === null)
        throw new ProblemError(
          "wrong_state",
          "no provider is set up; set PARLEY_OIDC_ISSUER, PARLEY_OIDC_CLIENT_ID and PARLEY_OIDC_CLIENT_SECRET",
        );
      const { location, cookie } = await (await open(provider)).start("/").catch((error: unknown) => {
        throw new ProblemError("wrong_state", `the provider can't be used: ${reasonOf(error)}`);
      });
      const changes = Object.fromEntries(Object.entries(all).filter(([name]) => names.has(name)));
      const state = location.searchParams.get("state") ?? "";
      const pending: z.input<typeof Pending> = {
        ...{ encryptedFor: "sign_in_test", userId: userId ?? "", changes, state, cookie },
      };
      const kept = encryptor.encrypt(JSON.stringify(pending)).toString("base64url");
      if (kept.length > maxCookieLength)
        throw new ProblemError("wrong_state", "these settings are too long to try before they are saved");
      return { url: location.href, cookie: ownCookie(config.baseUrl, "sign_in_test", kept, 600) };
    },

    async finish(request, reply) {
      const pending = decrypt(encryptor, ownCookieOf(request, config.baseUrl, "sign_in_test"));
      if (pending === null || (request.query as { state?: unknown }).state !== pending.state) return null;
      // Used once, whatever the outcome.
      addCookie(reply, ownCookie(config.baseUrl, "sign_in_test", "", 0));
      const user = await readSession(db.pool, request, config.baseUrl);
      if (user === null || user.userId !== pending.userId || !(await managesSystem(db, user)))
        return sendResult(reply, 403, {
          title: "Sign-in test ended",
          body: html`<p>Only the admin who began this test sees its result. Sign in, and begin it again.</p>`,
        });
      try {
        const provider = await readSettings(pending.changes);
        if (provider === null) throw new Error("the provider was removed from the settings meanwhile");
        const query = request.url.slice(request.url.indexOf("?"));
        const { identity, claims } = await (await open(provider)).finish(query, pending.cookie);
        const outcome = await tryIdentity(db, identity, {
          createUsers: provider.createUsers,
          from: originOf(request),
        });
        if (outcome.isAccepted) await savePassed(deps, provider);
        return sendResult(reply, 200, {
          title: outcome.isAccepted
            ? "The sign-in works"
            : "The provider works, but this sign-in would be refused",
          body: html`<p>${outcome.text}</p>${listClaims(claims)}`,
        });
      } catch (error) {
        return sendResult(reply, 400, {
          title: "The sign-in failed",
          body: html`<p class="notice bad">${reasonOf(error)}</p>`,
        });
      }
    },
  };
}

function sendResult(
  reply: FastifyReply,
  status: number,
  { title, body }: { readonly title: string; readonly body: Html },
): FastifyReply {
  return sendPage(reply, {
    title,
    status,
    body: html`<h1>${title}</h1>
${body}
<p class="soft small">This was a test: nothing was changed, and nobody was signed in. Close this tab to return to the settings.</p>`,
  });
}

/** Claims that are shown at most, and characters of each. */
const [maxClaims, maxLength] = [50, 300];

function listClaims(claims: Readonly<Record<string, unknown>>): Html {
  const shown = Object.entries(claims).slice(0, maxClaims);
  return html`<h2>What the provider says</h2>
${shown.map(([name, value]) => {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return html`<p class="small"><strong>${name}</strong>: ${text.slice(0, maxLength)}</p>`;
})}`;
}

type Identity = Parameters<typeof import("../../../people/accounts/sso/match-identity.ts").matchIdentity>[1];
type MatchOptions = Parameters<
  typeof import("../../../people/accounts/sso/match-identity.ts").matchIdentity
>[2];

interface Outcome {
  readonly isAccepted: boolean;
  readonly text: string;
}

/** Ends a transaction without its changes. */
class TriedError extends Error {
  readonly user: {
    readonly id: string;
    readonly email: string;
    readonly name: string;
    readonly role: string;
  };
  readonly workspace: string;

  constructor(user: TriedError["user"], workspace: string) {
    super("tried");
    this.user = user;
    this.workspace = workspace;
  }
}

/** What a sign-in with this identity would do: does it, and takes it back. */
async function tryIdentity(db: Database, identity: Identity, options: MatchOptions): Promise<Outcome> {
  const { matchIdentity } = await import("../../../people/accounts/sso/match-identity.ts");
  const { SingleSignOnError } = await import("../../../people/accounts/sso/single-sign-on.ts");
  try {
    return await db.kysely.transaction().execute(async (tx): Promise<never> => {
      const { id } = await matchIdentity(tx, identity, options);
      const { workspace, ...user } = await tx
        .selectFrom("users as u")
        .innerJoin("workspaces as w", "w.id", "u.workspace_id")
        .select(["u.id", "u.email", "u.name", "u.role", "w.name as workspace"])
        .where("u.id", "=", id)
        .executeTakeFirstOrThrow();
      throw new TriedError(user, workspace);
    });
  } catch (error) {
    if (error instanceof SingleSignOnError)
      return {
        isAccepted: false,
        text: error.hint === null ? error.message : `${error.message} (${error.hint})`,
      };
    if (!(error instanceof TriedError)) throw error;
    const { user, workspace } = error;
    const known = await db.kysely
      .selectFrom("users")
      .select("id")
      .where("id", "=", user.id)
      .executeTakeFirst();
    const verb = known === undefined ? "create an account for" : "sign in";
    return {
      isAccepted: true,
      text: `Parley would ${verb} ${user.name} (${user.email}) in the workspace ${workspace}, with the role ${user.role}.`,
    };
  }
}

function decrypt(encryptor: Encryptor, cookie: string | undefined): z.output<typeof Pending> | null {
  if (cookie === undefined || cookie === "") return null;
  try {
    return Pending.parse(JSON.parse(encryptor.decrypt(Buffer.from(cookie, "base64url"))));
  } catch {
    // Not a cookie of this server, modified, or encrypted with another secret.
    return null;
  }
}
