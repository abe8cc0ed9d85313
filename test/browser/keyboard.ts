import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";

/** A keyboard user. Every focus stop on the way is checked. */
export interface Keyboard {
  /** Presses Tab until the element has focus. */
  tabTo(goal: Locator): Promise<void>;
  press(key: string): Promise<void>;
  type(text: string): Promise<void>;
  /** Problems at focus stops: focus that is invisible, obscured or lost. */
  readonly issues: Set<string>;
}

/** The parts of the page's globals used here; tests compile without DOM types. */
declare const document: { readonly activeElement: never };
interface Box {
  contains(other: never): boolean;
}

const maxStops = 120;

/**
 * Describes the focused element: its name, whether it is obscured (WCAG 2.4.11), and whether the previous stop looks the same
 * without focus (WCAG 2.4.7).
 */
const look = `(async () => {
  const moves = document.getAnimations().filter((one) => one.effect?.getTiming().iterations !== Infinity);
  await Promise.race([Promise.allSettled(moves.map((one) => one.finished)), new Promise((resolve) => setTimeout(resolve, 500))]);
  const looksOf = (element) => {
    const around = [element, ...(element.parentElement?.children ?? [])];
    for (let up = element.parentElement, i = 0; up !== null && i < 4; up = up.parentElement, i += 1) around.push(up);
    return around.map((one) => {
      const { outlineStyle, outlineWidth, outlineColor, boxShadow, borderColor, backgroundColor, top } = getComputedStyle(one);
      const outline = outlineStyle === "none" ? "" : outlineStyle + outlineWidth + outlineColor;
      return [outline, boxShadow, borderColor, backgroundColor, top].join(" ");
    }).join("\\n");
  };
  const element = document.activeElement;
  const before = globalThis.lastStop;
  const name = (one) => one.tagName.toLowerCase() + " " + (one.getAttribute("aria-label") ?? one.labels?.[0]?.textContent ?? one.textContent ?? "").trim().slice(0, 60);
  const unseen = before !== undefined && before.element !== element && before.element.isConnected && before.looks === looksOf(before.element) ? before.name : null;
  if (element === null || element === document.body) {
    globalThis.lastStop = undefined;
    return { name: null, isHidden: false, unseen };
  }
  const shown = [element, ...(element.labels ?? []), element.parentElement].find((one) => one.getBoundingClientRect().width > 1) ?? element;
  const { left, top, width, height } = shown.getBoundingClientRect();
  const isHidden = ![[0.5, 0.5], [0.1, 0.2], [0.9, 0.2], [0.1, 0.8], [0.9, 0.8]].some(([x, y]) => {
    const hit = document.elementFromPoint(left + width * x, top + height * y);
    return hit !== null && (shown.contains(hit) || hit.contains(shown) || shown.parentElement.contains(hit));
  });
  globalThis.lastStop = { element, name: name(element), looks: looksOf(element) };
  return { name: name(element), isHidden, unseen };
})()`;

/** @param page the page; its pointer is never used. */
export function keyboardOf(page: Page): Keyboard {
  const issues = new Set<string>();
  const lookAtStop = async (): Promise<string | null> => {
    const { name, isHidden, unseen } = await page.evaluate<{
      name: string | null;
      isHidden: boolean;
      unseen: string | null;
    }>(look);
    const { pathname } = new URL(page.url());
    if (unseen !== null) issues.add(`${pathname}: the focus can't be seen on ${unseen}`);
    if (isHidden) issues.add(`${pathname}: something lies above ${name}`);
    return name;
  };
  const hasFocus = (goal: Locator): Promise<boolean> =>
    goal.evaluateAll((all) => all.includes(document.activeElement));
  return {
    issues,
    async tabTo(goal) {
      const passed: string[] = [];
      await goal.first().waitFor({ state: "attached" });
      for (let stop = 0; stop < maxStops; stop += 1) {
        if (await hasFocus(goal)) return;
        await page.keyboard.press("Tab");
        passed.push((await lookAtStop()) ?? "nothing");
      }
      assert.fail(`${goal} was not reached by Tab; passed: ${passed.join(" | ")}`);
    },
    async press(key) {
      await page.keyboard.press(key);
    },
    async type(text) {
      await page.keyboard.type(text);
    },
  };
}

/** Fails if focus was lost, for example because the focused element was removed or disabled. */
export async function assertFocused(page: Page, goal: Locator, after: string): Promise<void> {
  const end = Date.now() + 20_000;
  for (;;) {
    if (
      await goal.evaluateAll((all) => {
        const { activeElement } = document;
        return all.some((one) => (one as Box).contains(activeElement));
      })
    )
      return;
    if (Date.now() > end) break;
    await page.waitForFunction("true");
  }
  const now = await page.evaluate("document.activeElement?.outerHTML.slice(0, 200)");
  assert.fail(`after ${after} the focus is on ${now}, not on ${goal}`);
}
