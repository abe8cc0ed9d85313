import { oauthPaths } from "../../../../contract/accounts/oauth.ts";
import { describeTarget } from "../../../../contract/accounts/redirect-target.ts";
import type { Principal, Role } from "../../../platform/auth/principal.ts";
import { type Html, html } from "../../../platform/html.ts";
import type { Page } from "../../../platform/pages/page.ts";
import { userCard } from "../../../platform/pages/person.ts";
import { isSelfRegistered } from "../clients/queries.ts";
import { formTargetOf } from "../clients/redirect-uri.ts";
import { type AuthorizeRequest, continueUrl, type Target } from "./request.ts";

/** Shown instead of a redirect when client or redirect URI can't be trusted. */
export function stopPage(reason: string): Page {
  return {
    title: "This link doesn't work",
    status: 400,
    body: html`<h1>This link doesn't work</h1>
<p>${reason}</p>
<p class="soft">Nothing was shared. Go back to the app and try again. If it still doesn't work, contact the app's developers.</p>`,
  };
}

/** Shown instead of redirecting a self-registered app's errors: the user decides whether to follow the link. */
export function returnPage(
  target: Target,
  url: string,
  { error, error_description: description }: { readonly error: string; readonly error_description?: string },
): Page {
  return {
    title: "This request can't be completed",
    status: 400,
    body: html`<h1>This request can't be completed</h1>
<p>${target.client.name} sent a request that was refused: ${error}${description === undefined ? null : html` (${description})`}.
Nothing was shared.</p>
${selfRegisteredNotice(target)}
<p><a class="button quiet" href="${url}" rel="noreferrer">Return to ${describeTarget(target.redirectUri)}</a></p>`,
  };
}

/** Shown for a form that another site sent, or that has expired. */
export function crossSitePage(again: string | null): Page {
  return {
    title: "Please try again",
    status: 403,
    body: html`<h1>Please try again</h1>
<p>This form came from another site, or the page was open for too long. Nothing was shared.</p>
${again === null ? null : html`<p><a class="button" href="${again}">Try again</a></p>`}`,
  };
}

/** Shown to a user of another workspace than the app's. */
export function otherWorkspacePage(request: AuthorizeRequest, principal: Principal): Page {
  return {
    title: "Different account needed",
    status: 403,
    body: html`<h1>Different account needed</h1>
<p>${request.client.name} belongs to a workspace that ${principal.name} (${principal.emailKey}) is not a member of.
Nothing was shared.</p>
<p><a class="button" href="${signInAgainUrl(request)}">Use another account</a></p>`,
  };
}

/** Shown where the workspace doesn't allow apps that registered themselves. */
export function notAllowedPage(request: AuthorizeRequest): Page {
  return {
    title: "App not allowed",
    status: 403,
    body: html`<h1>App not allowed</h1>
<p>${request.client.name} registered itself, and your workspace allows only apps that an admin registered. Nothing was
shared. Ask an admin to register the app, or to allow self-registered apps in the workspace settings.</p>`,
  };
}

/** Shown to a user whose session the rules of the workspace refuse for now. */
export function refusedByRulePage(refusal: "address" | "second_factor"): Page {
  return {
    title: "Not allowed yet",
    status: 403,
    body:
      refusal === "address"
        ? html`<h1>Not allowed yet</h1>
<p>Your workspace allows access from certain IP addresses only. Nothing was shared. Connect to its network or VPN and reload this page.</p>`
        : html`<h1>Not allowed yet</h1>
<p>Your workspace requires a second factor, which you have not set up yet. Nothing was shared. Set it up, then go back to the app and try again.</p>
<p><a class="button" href="/">Set up two-factor authentication</a></p>`,
  };
}

/** The sign-in page of the authorization flow. Works without JavaScript. */
export function signInPage(
  request: AuthorizeRequest,
  form: {
    readonly token: string;
    readonly email: string;
    /** The error of the previous attempt. */
    readonly problem: { readonly text: string; readonly status: number } | null;
    /** URL of other ways to sign in. */
    readonly otherWays: string | null;
  },
): Page {
  return {
    title: "Sign in",
    status: form.problem?.status ?? 200,
    // The form's response may redirect to the app.
    formTargets: [formTargetOf(request.redirectUri)],
    body: html`<h1>Sign in</h1>
<p class="soft">to continue to ${request.client.name}</p>
${isSelfRegistered(request.client) ? selfRegisteredNotice(request) : null}
${form.problem === null ? null : html`<p class="notice bad" role="alert">${form.problem.text}</p>`}
<form method="post" action="${oauthPaths.authorize}">
${hiddenInputs(request, form.token)}
<label>Email
<input type="email" name="email" value="${form.email}" autocomplete="username" required autofocus></label>
<label>Password
<input type="password" name="password" autocomplete="current-password" required></label>
<button>Sign in</button>
</form>
${form.otherWays === null ? null : html`<p class="or">or</p><p><a class="button quiet" href="${form.otherWays}">Other ways to sign in</a></p>`}`,
  };
}

/** Consent: what the app will be able to do, for whom, and where the user returns to. Posts `allow` or `deny`. */
export function consentPage(
  request: AuthorizeRequest,
  principal: Principal,
  workspaceName: string,
  token: string,
): Page {
  const { client } = request;
  return {
    title: `Authorize ${client.name}?`,
    formTargets: [formTargetOf(request.redirectUri)],
    body: html`<h1>Authorize ${client.name}?</h1>
${userCard(principal.name, html`${principal.emailKey} in ${workspaceName}. <a href="${signInAgainUrl(request)}">Not you?</a>`)}
${isSelfRegistered(client) ? selfRegisteredNotice(request) : null}
<p><strong>${client.name}</strong> will be able to act on your behalf:</p>
<ul>${abilitiesOf(request, principal.role).map((text) => html`<li>${text}</li>`)}</ul>
<p class="soft small">It can't change your password, your account, or who else has access${client.is_legacy ? ". Its access doesn't expire" : ""}.
You can revoke its access at any time in Settings.</p>
<p class="small">You'll return to <strong>${describeTarget(request.redirectUri)}</strong>.</p>
${client.is_public ? html`<p class="soft small">Continue only if you just started this in ${client.name}.</p>` : null}
<form method="post" action="${oauthPaths.authorize}">
${hiddenInputs(request, token)}
<div class="actions">
<button name="allow" value="1">Allow</button>
<button name="deny" value="1" class="quiet">Deny</button>
</div>
</form>`,
  };
}

const seeing = "see the recordings you can see, including transcripts, participants and your private notes";
const changing = "upload recordings, and edit, share or delete recordings where you have permission";
const listening = "get notified about new recordings and changes";

/** What an app may do for a user of each role. */
const abilities: Readonly<Record<Role, readonly string[]>> = {
  admin: [seeing, changing, listening, "manage workspace settings for recordings"],
  member: [seeing, changing, listening],
  viewer: [seeing],
};

/** What the app will be able to do. The tools for assistants only read. */
function abilitiesOf({ resource }: AuthorizeRequest, role: Role): readonly string[] {
  return resource === "mcp" ? [seeing] : abilities[role];
}

/** Nobody has checked who made the app: its name may be that of another. */
function selfRegisteredNotice({ client, redirectUri }: Target): Html {
  const { metadata_url: documentUrl } = client;
  const source =
    documentUrl === null
      ? html`This app registered itself, and nobody has checked its name.`
      : html`This app registered itself. It is described by <strong>${new URL(documentUrl).host}</strong>.`;
  return html`<p class="notice bad">${source} It sends your access to <strong>${describeTarget(redirectUri)}</strong>. Continue
only if you trust it.</p>`;
}

/** The form carries the request: the server stores nothing until the user consents. */
function hiddenInputs({ parameters }: AuthorizeRequest, token: string): Html {
  const inputs = [...Object.entries(parameters), ["form_token", token] as const];
  return html`${inputs.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)}`;
}

function signInAgainUrl(request: AuthorizeRequest): string {
  return `${continueUrl(oauthPaths.authorize, request)}&prompt=login`;
}
