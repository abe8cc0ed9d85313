import { useEffect, useRef } from "react";
import { lazyDialog } from "../common/dialogs/lazy-dialog.tsx";
import { usePlayerContext } from "./context.ts";
import { toggleFullScreen } from "./full-screen.ts";

/** The dialog that lists the shortcuts, loaded on demand. */
export const ShortcutsHelp = lazyDialog({
  load: async () => (await import("./shortcuts-help.tsx")).ShortcutsHelp,
  isOpen: (props) => props.isOpen,
  closed: { isOpen: false },
});

interface Shortcuts {
  readonly onFind: () => void;
  readonly onHelp: () => void;
  readonly onComment?: () => void;
}

/** Handles the page's keyboard shortcuts, except inside fields, dialogs and menus. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const { playback, hasMedia } = usePlayerContext();
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => {
    const actions: Readonly<Record<string, () => void>> = {
      " ": playback.toggle,
      k: playback.toggle,
      j: () => playback.skip(-10_000),
      l: () => playback.skip(10_000),
      arrowleft: () => playback.skip(-5000),
      arrowright: () => playback.skip(5000),
      "<": () => playback.stepRate(-1),
      ">": () => playback.stepRate(1),
      m: playback.toggleMute,
      c: playback.toggleCaptions,
      f: () => toggleFullScreen(document.querySelector<HTMLElement>("[data-player]")),
    };
    const actionOf = (key: string): (() => void) | undefined => {
      if (!playback.getState().hasShortcuts) return undefined;
      if (key === "/") return latest.current.onFind;
      if (key.toLowerCase() === "n") return latest.current.onComment;
      return hasMedia ? actions[key.toLowerCase()] : undefined;
    };
    const listen = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isHandledElsewhere(event)) return;
      // Help works even when shortcuts are off, because it has the switch.
      const action = event.key === "?" ? latest.current.onHelp : actionOf(event.key);
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, [playback, hasMedia]);
}

const fields = "input, textarea, select, [contenteditable=true]";
const layers = '[role="dialog"], [role="menu"], [role="listbox"]';
/** Elements that handle the space bar or the arrow keys themselves. */
const pressed =
  "button, a[href], summary, [role=button], [role=slider], [role=tab], [role=checkbox], [role=radio]";
const moved = "[role=slider], [role=tab], [role=radio]";

function isHandledElsewhere(event: KeyboardEvent): boolean {
  const target = event.target instanceof Element ? event.target : null;
  if (target === null) return false;
  if (target.closest(fields) !== null || target.closest(layers) !== null) return true;
  if (event.key === " ") return target.closest(pressed) !== null;
  return event.key.startsWith("Arrow") && target.closest(moved) !== null;
}
