import type { I18n } from "../../../platform/language/i18n.ts";

/** What the script says, by code of the API's error. */
export function passkeyTexts(i18n: I18n): Readonly<Record<string, string>> {
  return {
    insecure: i18n.t("Passkeys need https, and the address that this server is set up for."),
    sign_in_refused: i18n.t("This passkey isn't known here. Sign in with your password instead."),
    rate_limited: i18n.t("Too many attempts. Wait a minute and try again."),
    refused_by_rule: i18n.t(
      "The security rules of your workspace don't allow this sign-in. Sign in in another way, or ask an admin.",
    ),
    other: i18n.t("Couldn't sign in with the passkey. Try again, or use your password."),
  };
}

/**
 * The script of the sign-in page: shows the button for passkeys where the browser has them, and offers the user's passkeys
 * in the email field. Without it, and in browsers without these functions, the page works as before. Source:
 * https://www.w3.org/TR/webauthn-3/.
 */
export const passkeyScript = `"use strict";
(() => {
  const key = globalThis.PublicKeyCredential;
  if (key === undefined || key.parseRequestOptionsFromJSON === undefined) return;
  const form = document.querySelector("form[data-passkeys]");
  const button = document.querySelector("button[data-passkey]");
  const problem = document.querySelector("[data-passkey-problem]");
  const texts = JSON.parse(problem.dataset.texts);
  let waiting = null;

  const post = async (path, body) => {
    const response = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const result = await response.json();
    if (!response.ok) throw new Error(result.error);
    return result;
  };

  const signIn = async (mediation) => {
    waiting?.abort();
    const own = new AbortController();
    waiting = own;
    const { options } = await post("/_/api/v1/session/passkey/options");
    const publicKey = key.parseRequestOptionsFromJSON(options);
    const credential = await navigator.credentials.get({ publicKey, mediation, signal: own.signal });
    await post("/_/api/v1/session/passkey", { response: credential.toJSON() });
    location.assign(form.elements.namedItem("next").value || "/");
  };

  const show = (code) => {
    problem.textContent = texts[code] ?? texts.other;
    problem.hidden = false;
  };

  /** Offers passkeys in the email field until the user chooses one. A challenge is valid for 15 minutes. */
  const offer = async () => {
    if (!(await key.isConditionalMediationAvailable?.())) return;
    const renew = setTimeout(offer, 10 * 60 * 1000);
    try {
      await signIn("conditional");
    } catch (error) {
      // Aborted by the button or by the next offer, or closed by the user.
      if (error instanceof DOMException) return;
      clearTimeout(renew);
      show(error.message);
    }
  };

  document.querySelector("[data-passkey-part]").hidden = false;
  button.addEventListener("click", async () => {
    problem.hidden = true;
    try {
      await signIn("optional");
    } catch (error) {
      if (error instanceof DOMException) {
        if (error.name === "SecurityError") show("insecure");
        return;
      }
      show(error.message);
    }
  });
  void offer();
})();
`;

export const passkeyScriptPath = "/sign-in/passkeys.js";
