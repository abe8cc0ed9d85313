import { useEffect } from "react";

/** Who takes the focus elsewhere by themselves, as dialogs do when they close, come first. */
const patienceMs = 80;

const focusable =
  'a[href], button:not(:disabled), input:not(:disabled):not([type="hidden"]), select:not(:disabled), textarea:not(:disabled), [tabindex]:not([tabindex^="-"])';

/**
 * Keeps the focus from falling to nowhere when the element that has it is taken out of the page or disabled: a browser
 * then begins anew at the top, out of any dialog, and a screen reader loses its place. It goes back to the element once
 * that is enabled again, else to what is left of the group that it was in, else to the page.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: { readonly element: Element; readonly around: readonly Element[] } | null = null;
    let timer = 0;
    const onFocus = ({ target }: FocusEvent): void => {
      if (target instanceof Element) last = { element: target, around: ancestorsOf(target) };
    };
    // Left by the person, for what can't have the focus.
    const onBlur = ({ target, relatedTarget }: FocusEvent): void => {
      if (relatedTarget !== null || !(target instanceof Element)) return;
      setTimeout(() => {
        if (last?.element === target && isUsable(target) && document.hasFocus()) last = null;
      });
    };
    const look = (): void => {
      if (last === null || document.activeElement !== document.body) return;
      const { element, around } = last;
      if (isUsable(element)) focus(element);
      // Disabled, it comes back when what it began is done.
      if (element.isConnected) return;
      const home = around.find((one) => one.isConnected && one !== document.body && one.id !== "app");
      last = null;
      if (home === undefined || home.closest("[data-moving]") !== null) return;
      const isPage = home.querySelector("h1") !== null;
      const next = isPage ? null : home.querySelector(focusable);
      focus(next ?? home.closest('[role="dialog"]') ?? document.querySelector("main"));
    };
    const observer = new MutationObserver(() => {
      clearTimeout(timer);
      timer = window.setTimeout(look, patienceMs);
    });
    observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ["disabled"] });
    document.addEventListener("focusin", onFocus);
    document.addEventListener("focusout", onBlur);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
      document.removeEventListener("focusin", onFocus);
      document.removeEventListener("focusout", onBlur);
    };
  }, []);
}

function ancestorsOf(element: Element): readonly Element[] {
  const found: Element[] = [];
  for (let up = element.parentElement; up !== null; up = up.parentElement) found.push(up);
  return found;
}

function isUsable(element: Element): boolean {
  return element.isConnected && !element.matches(":disabled");
}

function focus(element: Element | null): void {
  if (element instanceof HTMLElement) element.focus({ preventScroll: true });
}
