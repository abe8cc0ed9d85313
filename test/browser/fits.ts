import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { animationsEnd } from "./support.ts";

/** Lists elements wider than the window, and controls covered by other elements. */
export const misfits = `(() => {
  const found = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  const nameOf = (one) => one.tagName.toLowerCase() + " " + (one.getAttribute("aria-label") ?? one.textContent ?? "").trim().slice(0, 50);
  if (scrollWidth > clientWidth) {
    const isOut = ({ left, right }) => (document.documentElement.dir === "rtl" ? left < -1 : right > clientWidth + 1);
    const wide = [...document.querySelectorAll("body *")].filter((one) => isOut(one.getBoundingClientRect()));
    found.push("wider than the window by " + (scrollWidth - clientWidth) + ": " + wide.slice(-3).map(nameOf).join(" | "));
  }
  const layer = document.querySelector("[role=dialog]") ?? document;
  for (const one of layer.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea")) {
    if (!one.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) || one.matches(".skip")) continue;
    one.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const { left, top, width, height } = one.getBoundingClientRect();
    if (width < 2 || height < 2) continue;
    const hit = document.elementFromPoint(left + width / 2, top + height / 2);
    const around = one.closest("label") ?? one.parentElement;
    if (hit === null || !(one.contains(hit) || hit.contains(one) || around.contains(hit)))
      found.push(nameOf(one) + " lies below " + (hit === null ? "the edge" : nameOf(hit)));
  }
  document.scrollingElement.scrollTop = 0;
  return found;
})()`;

/** Fails where the page is wider than the window, or one control covers another. @param where named in the failure. */
export async function assertFits(page: Page, where: string): Promise<void> {
  await page.waitForLoadState("networkidle");
  await animationsEnd(page);
  assert.deepEqual(await page.evaluate(misfits), [], where);
}
