/**
 * Styles of the server-rendered pages, matching the web app (web/theme.ts), light and dark. Contrast is at least 4.5:1 for
 * text and 3:1 for outlines of fields and buttons (WCAG 2.2, 1.4.3 and 1.4.11).
 */
export const styles = `:root {
  color-scheme: light dark;
  --ink: #000000; --soft: #565f6b; --paper: #f8f9fa; --card: #ffffff; --line: #dee2e6; --field: #868e96; --quiet: #f1f3f5;
  --accent: #4263eb; --accent-over: #3b5bdb; --accent-ink: #ffffff; --link: #364fc7;
  --bad: #a51111; --bad-paper: #ffe9e9; --avatar: #4263eb;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #c9c9c9; --soft: #a6afbb; --paper: #1f1f1f; --card: #242424; --line: #3b3b3b; --field: #777777; --quiet: #2e2e2e;
    --link: #91a7ff; --bad: #ffb3ad; --bad-paper: #4d1b19;
  }
}
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; align-content: center; justify-items: center; gap: 20px; padding: 32px 16px 64px;
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; color: var(--ink); background: var(--paper);
  overflow-wrap: anywhere }
:lang(ja) body { font-family: system-ui, "Hiragino Sans", "Yu Gothic UI", "Noto Sans JP", "Noto Sans CJK JP", Meiryo, sans-serif;
  line-break: strict; word-break: auto-phrase }
:lang(ja) :is(em, i, cite) { font-style: normal }
header { display: flex; align-items: center; gap: 10px; font-size: 20px; font-weight: 700 }
header img { display: block }
main { width: 100%; max-width: 26rem; padding: 28px; background: var(--card); border: 1px solid var(--line); border-radius: 16px }
h1 { margin: 0 0 6px; font-size: 26px; font-weight: 650; line-height: 1.3; text-wrap: balance }
main > :last-child { margin-bottom: 0 }
p { margin: 0 0 16px }
.soft { color: var(--soft) }
.small { font-size: 14px }
form { display: grid; gap: 16px; margin: 20px 0 0 }
form p { margin: 0 }
form + p { margin: 20px 0 0 }
label { display: grid; gap: 4px; font-size: 14px; font-weight: 600 }
label.check { display: flex; align-items: start; gap: 10px; font-weight: 400 }
label.check input { width: auto; min-height: 0; margin: 4px 0 0 }
.field { display: grid; gap: 4px }
.field p { line-height: 1.4 }
input { width: 100%; min-height: 42px; padding: 8px 12px; font: inherit; font-size: 16px; font-weight: 400; color: inherit; background: var(--card);
  border: 1px solid var(--field); border-radius: 8px }
@media (prefers-color-scheme: dark) { input { background: var(--quiet) } }
input:focus-visible { outline: 2px solid var(--accent); outline-offset: 0; border-color: var(--accent) }
button, .button { display: block; min-height: 42px; padding: 8px 18px; font: inherit; font-weight: 600; text-align: center; text-decoration: none;
  cursor: pointer; color: var(--accent-ink); background: var(--accent); border: 1px solid var(--accent); border-radius: 8px }
button:hover, .button:hover { background: var(--accent-over) }
button.quiet, .button.quiet { color: var(--ink); background: var(--card); border-color: var(--field) }
button.quiet:hover, .button.quiet:hover { background: var(--quiet) }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px }
.actions { display: flex; flex-wrap: wrap; gap: 12px }
.actions > * { flex: 1 1 8rem }
.notice { padding: 12px 14px; border-radius: 8px; font-size: 15px }
.notice.bad { margin: 16px 0 0; color: var(--bad); background: var(--bad-paper) }
.who { display: flex; align-items: center; gap: 12px; margin: 16px 0; padding: 12px; border-radius: 12px; background: var(--quiet); font-size: 15px; line-height: 1.4 }
.who > span:last-child { min-width: 0 }
.who small { display: block; font-size: 14px; color: var(--soft) }
.avatar { flex: none; display: grid; place-items: center; width: 40px; height: 40px; border-radius: 50%; font-weight: 700; font-size: 15px;
  color: #ffffff; background: var(--avatar) }
ul { list-style: none; margin: 0 0 16px; padding: 0; display: grid; gap: 8px }
li { position: relative; padding-inline-start: 28px; line-height: 1.45 }
li::before { content: "\\2713"; content: "\\2713" / ""; position: absolute; inset-inline-start: 4px; font-weight: 700; color: var(--link) }
a { color: var(--link); text-underline-offset: 0.15em }
.or { display: flex; align-items: center; gap: 12px; margin: 20px 0; color: var(--soft); font-size: 14px }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--line) }
@media (max-width: 30rem) { body { align-content: start; padding: 24px 12px 40px } header { justify-self: start; padding-inline-start: 8px } main { padding: 22px 18px } }
@media (prefers-contrast: more) { :root { --line: var(--field); --soft: var(--ink) } }
`;
