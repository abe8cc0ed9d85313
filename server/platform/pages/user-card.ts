import { type Html, html } from "../html.ts";

/** A user: initials as in the web app, name and further details. */
export function userCard(name: string, more: Html | null): Html {
  return html`<div class="who"><span class="avatar" aria-hidden="true">${initials(name)}</span>
<span><strong>${name}</strong>${more === null ? null : html` <small>${more}</small>`}</span></div>`;
}

function initials(name: string): string {
  const words = name.trim().split(/\s+/);
  const letters = [words[0], words.length > 1 ? words[words.length - 1] : undefined];
  return letters
    .map((word) => [...(word ?? "")][0] ?? "")
    .join("")
    .toUpperCase();
}
