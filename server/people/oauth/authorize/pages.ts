import { oauthPaths } from "../../../../contract/accounts/oauth.ts";
import { redirectTargetOf } from "../../../../contract/accounts/redirect-target.ts";
import type { Principal, Role } from "../../../platform/auth/principal.ts";
import { type Html, html } from "../../../platform/html.ts";
import type { I18n, Localized } from "../../../platform/language/i18n.ts";
import type { Page } from "../../../platform/pages/page.ts";
import { userCard } from "../../../platform/pages/user-card.ts";
import { errorNotice } from "../../accounts/pages/page-parts.ts";
import { isSelfRegistered } from "../clients/queries.ts";
import { formTargetOf } from "../clients/redirect-uri.ts";
import { type AuthorizeRequest, continueUrl, type Target } from "./request.ts";

const b = (inner: Html): Html => html`<strong>${inner}</strong>`;

/** Shown instead of a redirect when client or redirect URI can't be trusted. */
export function stopPage(i18n: I18n, reason: Localized): Page {
  return {
    i18n,
    title: i18n.t("This link doesn't work"),
    status: 400,
    body: html`<h1>${i18n.t("This link doesn't work")}</h1>
<p>${reason(i18n)}</p>
<p class="soft">${i18n.t("Nothing was shared. Go back to the app and try again. If it still doesn't work, contact the app's developers.")}</p>`,
  };
}

/** Shown instead of redirecting a self-registered app's errors: the user decides whether to follow the link. */
export function returnPage(
  i18n: I18n,
  target: Target,
  url: string,
  { error, error_description: description }: { readonly error: string; readonly error_description?: string },
): Page {
  // The protocol's own code and description, for the app's developers.
  const reason = description === undefined ? error : `${error} (${description})`;
  return {
    i18n,
    title: i18n.t("This request can't be completed"),
    status: 400,
    body: html`<h1>${i18n.t("This request can't be completed")}</h1>
<p>${i18n.t("{app} sent a request that was refused: {reason}. Nothing was shared.", { app: target.client.name, reason })}</p>
${selfRegisteredNotice(i18n, target)}
<p><a class="button quiet" href="${url}" rel="noreferrer">${i18n.t(
      "{kind, select, app {Return to the app on this device that handles {name}} program {Return to a program on this device} other {Return to {name}}}",
      { ...redirectTargetOf(target.redirectUri) },
    )}</a></p>`,
  };
}

/** Shown for a form that another site sent, or that has expired. */
export function crossSitePage(i18n: I18n, again: string | null): Page {
  return {
    i18n,
    title: i18n.t("Please try again"),
    status: 403,
    body: html`<h1>${i18n.t("Please try again")}</h1>
<p>${i18n.t("This form came from another site, or the page was open for too long. Nothing was shared.")}</p>
${again === null ? null : html`<p><a class="button" href="${again}">${i18n.t("Try again")}</a></p>`}`,
  };
}

/** Shown to a user of another workspace than the app's. */
export function otherWorkspacePage(i18n: I18n, request: AuthorizeRequest, principal: Principal): Page {
  return {
    i18n,
    title: i18n.t("Different account needed"),
    status: 403,
    body: html`<h1>${i18n.t("Different account needed")}</h1>
<p>${i18n.t("{app} belongs to a workspace that {name} ({email}) is not a member of. Nothing was shared.", {
      app: request.client.name,
      name: principal.name,
      email: principal.emailKey,
    })}</p>
<p><a class="button" href="${signInAgainUrl(request)}">${i18n.t("Use another account")}</a></p>`,
  };
}

/** Shown where the workspace doesn't allow apps that registered themselves. */
export function notAllowedPage(i18n: I18n, { client }: AuthorizeRequest): Page {
  return {
    i18n,
    title: i18n.t("App not allowed"),
    status: 403,
    body: html`<h1>${i18n.t("App not allowed")}</h1>
<p>${i18n.t(
      "{app} registered itself, and your workspace allows only apps that an admin registered. Nothing was shared. Ask an admin to register the app, or to allow self-registered apps in the workspace settings.",
      { app: client.name },
    )}</p>`,
  };
}

/** Shown to a user whose session the rules of the workspace refuse for now. */
export function refusedByRulePage(i18n: I18n, refusal: "address" | "second_factor"): Page {
  return {
    i18n,
    title: i18n.t("Not allowed yet"),
    status: 403,
    body:
      refusal === "address"
        ? html`<h1>${i18n.t("Not allowed yet")}</h1>
<p>${i18n.t("Your workspace allows access from certain IP addresses only. Nothing was shared. Connect to its network or VPN and reload this page.")}</p>`
        : html`<h1>${i18n.t("Not allowed yet")}</h1>
<p>${i18n.t("Your workspace requires a second factor, which you have not set up yet. Nothing was shared. Set it up, then go back to the app and try again.")}</p>
<p><a class="button" href="/">${i18n.t("Set up two-factor authentication")}</a></p>`,
  };
}

/** Why an attempt to sign in failed. */
export interface Problem {
  readonly text: Localized;
  readonly status: number;
}

/** The sign-in page of the authorization flow. Works without JavaScript. */
export function signInPage(
  i18n: I18n,
  request: AuthorizeRequest,
  form: {
    readonly token: string;
    readonly email: string;
    /** The error of the previous attempt. */
    readonly problem: Problem | null;
    /** URL of other ways to sign in. */
    readonly otherWays: string | null;
    /** False where single sign-on is required: only the other ways are offered. */
    readonly hasPasswords: boolean;
  },
): Page {
  return {
    i18n,
    title: i18n.t("Sign in"),
    status: form.problem?.status ?? 200,
    // The form's response may redirect to the app.
    formTargets: [formTargetOf(request.redirectUri)],
    body: html`<h1>${i18n.t("Sign in")}</h1>
<p class="soft">${i18n.t("to continue to {app}", { app: request.client.name })}</p>
${isSelfRegistered(request.client) ? selfRegisteredNotice(i18n, request) : null}
${errorNotice(form.problem?.text(i18n) ?? null)}
${form.hasPasswords ? passwordForm(i18n, request, form) : html`<p><a class="button" href="${form.otherWays}">${i18n.t("Continue with single sign-on")}</a></p>`}
${form.otherWays === null || !form.hasPasswords ? null : html`<p class="or">${i18n.t("or")}</p><p><a class="button quiet" href="${form.otherWays}">${i18n.t("Other ways to sign in")}</a></p>`}`,
  };
}

function passwordForm(
  i18n: I18n,
  request: AuthorizeRequest,
  form: { readonly token: string; readonly email: string },
) {
  return html`<form method="post" action="${oauthPaths.authorize}">
${hiddenInputs(request, form.token)}
<label>${i18n.t("Email")}
<input type="email" name="email" value="${form.email}" autocomplete="username" required autofocus></label>
<label>${i18n.t("Password")}
<input type="password" name="password" autocomplete="current-password" required></label>
<button>${i18n.t("Sign in")}</button>
</form>`;
}

/** Consent: what the app will be able to do, for whom, and where the user returns to. Posts `allow` or `deny`. */
export function consentPage(
  i18n: I18n,
  request: AuthorizeRequest,
  principal: Principal,
  workspaceName: string,
  token: string,
): Page {
  const { client } = request;
  const { name: app } = client;
  const title = i18n.t("Authorize {app}?", { app });
  return {
    i18n,
    title,
    formTargets: [formTargetOf(request.redirectUri)],
    body: html`<h1>${title}</h1>
${userCard(
  principal.name,
  i18n.t("{email} in {workspace}. <link>Not you?</link>", {
    email: principal.emailKey,
    workspace: workspaceName,
    link: (inner) => html`<a href="${signInAgainUrl(request)}">${inner}</a>`,
  }),
)}
${isSelfRegistered(client) ? selfRegisteredNotice(i18n, request) : null}
<p>${i18n.t("<b>{app}</b> will be able to act on your behalf:", { app, b })}</p>
<ul>${abilitiesOf(request, principal.role).map((text) => html`<li>${text(i18n)}</li>`)}</ul>
<p class="soft small">${i18n.t("It can't change your password, your account, or who else has access.")}
${client.is_legacy ? html`${i18n.t("Its access doesn't expire.")}\n` : null}${i18n.t("You can revoke its access at any time in Settings.")}</p>
<p class="small">${i18n.t(
      "{kind, select, app {You'll return to <b>the app on this device that handles {name}</b>.} program {You'll return to <b>a program on this device</b>.} other {You'll return to <b>{name}</b>.}}",
      { ...redirectTargetOf(request.redirectUri), b },
    )}</p>
${client.is_public ? html`<p class="soft small">${i18n.t("Continue only if you just started this in {app}.", { app })}</p>` : null}
<form method="post" action="${oauthPaths.authorize}">
${hiddenInputs(request, token)}
<div class="actions">
<button name="allow" value="1">${i18n.t("Allow")}</button>
<button name="deny" value="1" class="quiet">${i18n.t("Deny")}</button>
</div>
</form>`,
  };
}

const seeing: Localized = (i18n) =>
  i18n.t("see the recordings you can see, including transcripts, participants and your private notes");
const changing: Localized = (i18n) =>
  i18n.t("upload recordings, and edit, share or delete recordings where you have permission");
const listening: Localized = (i18n) => i18n.t("get notified about new recordings and changes");
const managing: Localized = (i18n) => i18n.t("manage workspace settings for recordings");

/** What an app may do for a user of each role. */
const abilities: Readonly<Record<Role, readonly Localized[]>> = {
  admin: [seeing, changing, listening, managing],
  member: [seeing, changing, listening],
  viewer: [seeing],
};

/** What the app will be able to do. The tools for assistants only read. */
function abilitiesOf({ resource }: AuthorizeRequest, role: Role): readonly Localized[] {
  return resource === "mcp" ? [seeing] : abilities[role];
}

/** Nobody has checked who made the app: its name may be that of another. */
function selfRegisteredNotice(i18n: I18n, { client, redirectUri }: Target): Html {
  const { metadata_url: documentUrl } = client;
  const source =
    documentUrl === null
      ? html`${i18n.t("This app registered itself, and nobody has checked its name.")}`
      : i18n.t("This app registered itself. It is described by <b>{host}</b>.", {
          host: new URL(documentUrl).host,
          b,
        });
  const target = i18n.t(
    "{kind, select, app {It sends your access to <b>the app on this device that handles {name}</b>. Continue only if you trust it.} program {It sends your access to <b>a program on this device</b>. Continue only if you trust it.} other {It sends your access to <b>{name}</b>. Continue only if you trust it.}}",
    { ...redirectTargetOf(redirectUri), b },
  );
  return html`<p class="notice bad">${source} ${target}</p>`;
}

/** The form carries the request: the server stores nothing until the user consents. */
function hiddenInputs({ parameters }: AuthorizeRequest, token: string): Html {
  const inputs = [...Object.entries(parameters), ["form_token", token] as const];
  return html`${inputs.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)}`;
}

function signInAgainUrl(request: AuthorizeRequest): string {
  return `${continueUrl(oauthPaths.authorize, request)}&prompt=login`;
}
