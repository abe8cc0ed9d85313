/** How the server's own pages look, in light and in dark. Contrast is 4.5:1 at least everywhere (WCAG 2.2, 1.4.3). */
export const styles = `:root {
  color-scheme: light dark;
  --ink: #1b2330; --soft: #566173; --paper: #f3f5f9; --card: #ffffff; --line: #ccd3de;
  --accent: #2b4fc4; --accent-ink: #ffffff; --bad: #a3222c; --bad-paper: #fdeeee; --good: #19653a; --good-paper: #eaf6ee;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e8ecf4; --soft: #a5afc0; --paper: #11151c; --card: #1a202a; --line: #38414f;
    --accent: #8fb0ff; --accent-ink: #0f1726; --bad: #ffb3b3; --bad-paper: #3a1d21; --good: #9fe0b6; --good-paper: #16301f;
  }
}
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px 16px;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; color: var(--ink); background: var(--paper) }
main { width: 100%; max-width: 26rem; padding: 32px; background: var(--card); border: 1px solid var(--line); border-radius: 14px }
.brand { margin: 0 0 20px; font-weight: 700; letter-spacing: 0.01em; color: var(--accent) }
h1 { margin: 0 0 8px; font-size: 1.45rem; line-height: 1.25 }
p { margin: 0 0 16px }
.soft { color: var(--soft) }
form { display: grid; gap: 16px; margin: 20px 0 0 }
form + p { margin: 16px 0 0 }
label { display: grid; gap: 6px; font-weight: 600 }
input { width: 100%; padding: 10px 12px; font: inherit; color: inherit; background: var(--paper);
  border: 1px solid var(--soft); border-radius: 8px }
button, .button { display: inline-block; padding: 11px 18px; font: inherit; font-weight: 600; text-align: center; text-decoration: none;
  cursor: pointer; color: var(--accent-ink); background: var(--accent); border: 1px solid var(--accent); border-radius: 8px }
button.quiet, .button.quiet { color: var(--ink); background: transparent; border-color: var(--soft) }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
.actions { display: flex; flex-wrap: wrap; gap: 12px }
.actions > * { flex: 1 }
.notice { padding: 12px 14px; border-radius: 8px; border: 1px solid currentcolor }
.notice.bad { color: var(--bad); background: var(--bad-paper) }
.notice.good { color: var(--good); background: var(--good-paper) }
ul { margin: 0 0 16px; padding-left: 1.2rem }
a { color: var(--accent) }
.or { display: flex; align-items: center; gap: 12px; margin: 20px 0 0; color: var(--soft) }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--line) }
@media (max-width: 30rem) { body { place-items: start stretch } main { padding: 24px 20px } }
`;
