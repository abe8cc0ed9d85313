import { useEffect } from "react";

/** Gives components that restore focus themselves, such as closing dialogs, time to do so. */
const timeoutMs = 80;

const focusable =
  'a[href], button:not(:disabled), input:not(:disabled):not([type="hidden"]), select:not(:disabled), textarea:not(:disabled), [tabindex]:not([tabindex^="-"])';

/**
 * Restores focus when the focused element is removed or disabled. Otherwise a browser restarts at the top of the page,
 * outside any dialog, and a screen reader loses its position. Focus returns to the element once it is enabled again, else to
 * its nearest remaining ancestor group, else to the page.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: { readonly element: Element; readonly around: readonly Element[] } | null = null;
    let timer = 0;
    const onFocus = ({ target }: FocusEvent): void => {
      if (target instanceof Element) last = { element: target, around: ancestorsOf(target) };
    };
    // The user clicked something that can't be focused.
    const onBlur = ({ target, relatedTarget }: FocusEvent): void => {
      if (relatedTarget !== null || !(target instanceof Element)) return;
      setTimeout(() => {
        if (last?.element === target && isUsable(target) && document.hasFocus()) last = null;
      });
    };
    const restore = (): void => {
      if (last === null || document.activeElement !== document.body) return;
      const { element, around } = last;
      if (isUsable(element)) focus(element);
      // A disabled element gets focus again once it is enabled.
      if (element.isConnected) return;
      const group = around.find((one) => one.isConnected && one !== document.body && one.id !== "app");
      last = null;
      if (group === undefined || group.closest("[data-moving]") !== null) return;
      const isPage = group.querySelector("h1") !== null;
      const next = isPage ? null : group.querySelector(focusable);
      focus(next ?? group.closest('[role="dialog"]') ?? document.querySelector("main"));
    };
    const observer = new MutationObserver(() => {
      clearTimeout(timer);
      timer = window.setTimeout(restore, timeoutMs);
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
