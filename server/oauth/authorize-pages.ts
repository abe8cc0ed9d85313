import { oauthPaths } from "../../contract/oauth.ts";
import type { Principal, Role } from "../access/principal.ts";
import { type Html, html } from "../pages/html.ts";
import type { Page } from "../pages/page.ts";
import { personCard } from "../pages/person.ts";
import { type AuthorizeRequest, continueUrl } from "./authorize-request.ts";
import { describeTarget, formTargetOf } from "./redirect-uri.ts";

/** Why nobody can be sent on, and nobody is sent back: the address itself can't be trusted. */
export function stopPage(reason: string): Page {
  return {
    title: "This link does not work",
    status: 400,
    body: html`<h1>This link does not work</h1>
<p>${reason}</p>
<p class="soft">Nothing was shared with anybody. Go back to the app and try again; if it stays like this, tell the people who
make the app.</p>`,
  };
}

/** For an answer that did not come from our own page. */
export function forgeryPage(again: string | null): Page {
  return {
    title: "Please try again",
    status: 403,
    body: html`<h1>Please try again</h1>
<p>This answer did not come from a page of this server, or the page was open for too long. Nothing was shared.</p>
${again === null ? null : html`<p><a class="button" href="${again}">Try again</a></p>`}`,
  };
}

/** The person belongs to another workspace than the app. */
export function otherWorkspacePage(request: AuthorizeRequest, principal: Principal): Page {
  return {
    title: "Another account is needed",
    status: 403,
    body: html`<h1>Another account is needed</h1>
<p>${request.client.name} belongs to a workspace that ${principal.name} (${principal.emailKey}) is not a member of.
Nothing was shared.</p>
<p><a class="button" href="${signInAgainUrl(request)}">Use another account</a></p>`,
  };
}

/** Where people sign in on their way. Works without scripts. */
export function signInPage(
  request: AuthorizeRequest,
  form: {
    readonly token: string;
    readonly email: string;
    /** What went wrong just now. */
    readonly problem: { readonly text: string; readonly status: number } | null;
    /** Where people can sign in another way. */
    readonly otherWays: string | null;
  },
): Page {
  return {
    title: "Sign in",
    status: form.problem?.status ?? 200,
    // The answer to this form can lead on to the app.
    formTargets: [formTargetOf(request.redirectUri)],
    body: html`<h1>Sign in</h1>
<p class="soft">to go on to ${request.client.name}</p>
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

/** What the app will be able to do, for whom, and where the person is sent: answered with `allow` or `deny`. */
export function consentPage(
  request: AuthorizeRequest,
  principal: Principal,
  workspaceName: string,
  token: string,
): Page {
  const { client } = request;
  return {
    title: `Let ${client.name} in?`,
    formTargets: [formTargetOf(request.redirectUri)],
    body: html`<h1>Let ${client.name} use your account?</h1>
${personCard(principal.name, html`${principal.emailKey} in ${workspaceName}. <a href="${signInAgainUrl(request)}">Not you?</a>`)}
<p><strong>${client.name}</strong> will be able to, in your name:</p>
<ul>${abilities[principal.role].map((text) => html`<li>${text}</li>`)}</ul>
<p class="soft small">It can't change your password, your account, or who else is let in${client.is_legacy ? ". Its access does not expire" : ""}.
You can end its access at any time.</p>
<p class="small">You are sent back to <strong>${describeTarget(request.redirectUri)}</strong>.</p>
${client.is_public ? html`<p class="soft small">Go on only if you have just begun this in ${client.name} yourself.</p>` : null}
<form method="post" action="${oauthPaths.authorize}">
${hiddenInputs(request, token)}
<div class="actions">
<button name="allow" value="1">Allow</button>
<button name="deny" value="1" class="quiet">Deny</button>
</div>
</form>`,
  };
}

const seeing =
  "see the recordings you can see, with their transcripts, your private notes, and who took part";
const changing =
  "upload recordings, change titles, tags and highlights, share, and delete where you may do so yourself";
const listening = "be told of new recordings and changes";

/** In words, for each role, what an app may do that acts for such a person. */
const abilities: Readonly<Record<Role, readonly string[]>> = {
  admin: [seeing, changing, listening, "manage the workspace's settings that concern recordings"],
  member: [seeing, changing, listening],
  viewer: [seeing],
};

/** The request goes along in the form: nothing of it is kept on the server until the person says yes. */
function hiddenInputs({ parameters }: AuthorizeRequest, token: string): Html {
  const inputs = [...Object.entries(parameters), ["form_token", token] as const];
  return html`${inputs.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">\n`)}`;
}

function signInAgainUrl(request: AuthorizeRequest): string {
  return `${continueUrl(oauthPaths.authorize, request)}&prompt=login`;
}
