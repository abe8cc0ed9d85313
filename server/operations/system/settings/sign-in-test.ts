import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { because } from "../../../../contract/causes/causes.ts";
import { StoredProvider } from "../../../../contract/sign-in-providers.ts";
import { readSession } from "../../../people/accounts/sign-in/authenticate.ts";
import { decryptState, encryptState } from "../../../people/accounts/sign-in/encrypted-state.ts";
import { addCookie, ownCookie, ownCookieOf } from "../../../people/accounts/sign-in/session-cookie.ts";
import type { AppliedGroups } from "../../../people/accounts/sso/apply-groups.ts";
import type { MatchOptions } from "../../../people/accounts/sso/match-identity.ts";
import type { ProvenIdentity } from "../../../people/accounts/sso/single-sign-on.ts";
import { originOf } from "../../../platform/audit/record.ts";
import type { Principal } from "../../../platform/auth/principal.ts";
import { type SignInProvider, toProvider, toStored } from "../../../platform/config/sign-in-providers.ts";
import type { Database } from "../../../platform/db/database.ts";
import { type Html, html } from "../../../platform/html.ts";
import { ProblemError } from "../../../platform/http/errors/problem.ts";
import type { I18n } from "../../../platform/language/i18n.ts";
import { i18nOf } from "../../../platform/language/request-language.ts";
import { sendPage } from "../../../platform/pages/page.ts";
import { reasonOf } from "../health/finding.ts";
import { managesSystem } from "../operator.ts";
import { type ChangeDependencies, preview, type SettingChanges, savePassed } from "./change.ts";
import { textsOf } from "./live.ts";
import { type TriedProvider, triedProvider } from "./providers.ts";
import { findSettings } from "./queries.ts";

/** What the browser keeps, encrypted, while the admin is at the provider. */
const Pending = z.object({
  encryptedFor: z.literal("sign_in_test"),
  userId: z.string(),
  /** The provider with the values of the form. */
  provider: StoredProvider,
  state: z.string(),
  /** The sign-in itself. */
  cookie: z.string(),
  expires: z.number(),
});

/** How long the admin may take at the provider. */
const ttlSec = 600;

/** Browsers keep no larger cookies. */
const maxCookieLength = 3800;

/** A whole sign-in at a provider with the values of the form, before they are saved. It signs nobody in. */
export interface SignInTest {
  /** @returns the URL to open, and the cookie to set. */
  start(
    changes: SettingChanges,
    by: Principal,
    provider?: TriedProvider,
  ): Promise<{ url: string; cookie: string }>;
  /** Shows the result of the test that this browser began; null: it began none, or another sign-in. */
  finish(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | null>;
}

export function createSignInTest(deps: ChangeDependencies): SignInTest {
  const { db, encryptor, config } = deps;
  // Loaded only now, with its libraries.
  const open = async (provider: SignInProvider) => {
    const { openSingleSignOn } = await import("../../../people/accounts/sso/single-sign-on.ts");
    return openSingleSignOn(provider, { baseUrl: config.baseUrl, encryptor });
  };

  return {
    async start(changes, { userId }, tried) {
      const texts = textsOf(await findSettings(db.kysely), encryptor);
      const all = preview(config.sources, texts, changes);
      const provider = tried === undefined ? all.signInProviders[0] : triedProvider(all, tried);
      if (provider === undefined) throw new ProblemError("wrong_state", because("sign_in_provider_missing"));
      const { location, cookie } = await (await open(provider)).start("/", null).catch((error: unknown) => {
        throw new ProblemError(
          "wrong_state",
          because("sign_in_provider_unusable", { reason: reasonOf(error) }),
        );
      });
      const state = location.searchParams.get("state") ?? "";
      const kept = encryptState(encryptor, {
        encryptedFor: "sign_in_test",
        ...{ userId: userId ?? "", provider: toStored(provider), state, cookie },
        expires: Date.now() + ttlSec * 1000,
      } satisfies z.input<typeof Pending>);
      if (kept.length > maxCookieLength) throw new ProblemError("wrong_state", because("settings_too_long"));
      return { url: location.href, cookie: ownCookie(config.baseUrl, "sign_in_test", kept, ttlSec) };
    },

    async finish(request, reply) {
      const pending = decryptState(encryptor, Pending, ownCookieOf(request, config.baseUrl, "sign_in_test"));
      if (pending === null || (request.query as { state?: unknown }).state !== pending.state) return null;
      // Used once, whatever the outcome.
      addCookie(reply, ownCookie(config.baseUrl, "sign_in_test", "", 0));
      const user = await readSession(db.pool, request, config.baseUrl);
      const i18n = await i18nOf(request, user === null ? undefined : user.language);
      if (user === null || user.userId !== pending.userId || !(await managesSystem(db, user)))
        return sendResult(reply, i18n, 403, {
          title: i18n.t("Sign-in test ended"),
          body: html`<p>${i18n.t("Only the admin who began this test sees its result. Sign in, and begin it again.")}</p>`,
        });
      try {
        const provider = toProvider(pending.provider);
        const query = request.url.slice(request.url.indexOf("?"));
        const { identity, claims } = await (await open(provider)).finish(query, pending.cookie);
        const outcome = await tryIdentity(db, identity, {
          provider,
          providers: config.signInProviders,
          mail: null,
          from: originOf(request),
          i18n,
        });
        if (outcome.isAccepted) await savePassed(deps, provider);
        const { describeIdentity } = await import("./sign-in-result.ts");
        return sendResult(reply, i18n, 200, {
          title: outcome.isAccepted
            ? i18n.t("The sign-in works")
            : i18n.t("The provider works, but this sign-in would be refused"),
          body: html`<p>${outcome.text}</p>${describeIdentity(i18n, identity, provider, outcome.groups)}${listClaims(i18n, claims)}`,
        });
      } catch (error) {
        return sendResult(reply, i18n, 400, {
          title: i18n.t("The sign-in failed"),
          body: html`<p class="notice bad">${await describeFailure(i18n, error)}</p>`,
        });
      }
    },
  };
}

async function describeFailure(i18n: I18n, error: unknown): Promise<Html> {
  const { SingleSignOnError } = await import("../../../people/accounts/sso/single-sign-on.ts");
  return error instanceof SingleSignOnError ? html`${error.text(i18n)}` : inEnglish(reasonOf(error));
}

/** What logs and other programs say. */
function inEnglish(text: string): Html {
  return html`<span lang="en">${text}</span>`;
}

function sendResult(
  reply: FastifyReply,
  i18n: I18n,
  status: number,
  { title, body }: { readonly title: string; readonly body: Html },
): FastifyReply {
  return sendPage(reply, {
    i18n,
    title,
    status,
    body: html`<h1>${title}</h1>
${body}
<p class="soft small">${i18n.t("This was a test: nothing was changed, and nobody was signed in. Close this tab to return to the settings.")}</p>`,
  });
}

/** Claims that are shown at most, and characters of each. */
const [maxClaims, maxLength] = [50, 300];

function listClaims(i18n: I18n, claims: Readonly<Record<string, unknown>>): Html {
  const shown = Object.entries(claims).slice(0, maxClaims);
  return html`<h2>${i18n.t("What the provider says")}</h2>
${shown.map(([name, value]) => {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return html`<p class="small"><strong>${name}</strong>: ${text.slice(0, maxLength)}</p>`;
})}`;
}

interface Outcome {
  readonly isAccepted: boolean;
  readonly text: string | Html;
  /** What the groups would change; null: the sign-in would be refused before. */
  readonly groups: AppliedGroups | null;
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
  readonly groups: AppliedGroups;

  constructor(user: TriedError["user"], workspace: string, groups: AppliedGroups) {
    super("tried");
    this.user = user;
    this.workspace = workspace;
    this.groups = groups;
  }
}

/** What a sign-in with this identity would do: does it, and takes it back. */
async function tryIdentity(
  db: Database,
  identity: ProvenIdentity,
  { i18n, ...options }: MatchOptions & { readonly i18n: I18n },
): Promise<Outcome> {
  const { acceptIdentity } = await import("../../../people/accounts/sso/accept-identity.ts");
  const { SingleSignOnError } = await import("../../../people/accounts/sso/single-sign-on.ts");
  try {
    return await db.kysely.transaction().execute(async (tx): Promise<never> => {
      const {
        user: { id },
        groups,
      } = await acceptIdentity(tx, identity, options);
      const { workspace, ...user } = await tx
        .selectFrom("users as u")
        .innerJoin("workspaces as w", "w.id", "u.workspace_id")
        .select(["u.id", "u.email", "u.name", "u.role", "w.name as workspace"])
        .where("u.id", "=", id)
        .executeTakeFirstOrThrow();
      throw new TriedError(user, workspace, groups);
    });
  } catch (error) {
    if (error instanceof SingleSignOnError)
      return {
        isAccepted: false,
        groups: null,
        text:
          error.hint === null ? error.text(i18n) : html`${error.text(i18n)} ${inEnglish(`(${error.hint})`)}`,
      };
    if (!(error instanceof TriedError)) throw error;
    const { user, workspace, groups } = error;
    const known = await db.kysely
      .selectFrom("users")
      .select("id")
      .where("id", "=", user.id)
      .executeTakeFirst();
    const values = { name: user.name, email: user.email, role: user.role, workspace };
    return {
      isAccepted: true,
      groups,
      text:
        known === undefined
          ? i18n.t(
              "Parley would create an account for {name} ({email}) in the workspace {workspace}, with the role {role, select, admin {admin} member {member} other {viewer}}.",
              values,
            )
          : i18n.t(
              "Parley would sign in {name} ({email}) in the workspace {workspace}, with the role {role, select, admin {admin} member {member} other {viewer}}.",
              values,
            ),
    };
  }
}
