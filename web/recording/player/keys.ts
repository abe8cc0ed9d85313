import { useEffect, useRef } from "react";
import { lazyDialog } from "../../common/lazy-dialog.tsx";
import { useWatching } from "../watching.ts";
import { toggleFullScreen } from "./screen.ts";

/** What the keys do; its code comes when somebody asks for it. */
export const KeysHelp = lazyDialog({
  load: async () => (await import("./keys-help.tsx")).KeysHelp,
  isOpen: (props) => props.isOpen,
  closed: { isOpen: false },
});

interface Shortcuts {
  readonly onFind: () => void;
  readonly onHelp: () => void;
}

/** Listens for the keys of the page, wherever no field, dialog or menu has them. */
export function useKeys({ onFind, onHelp }: Shortcuts): void {
  const { playback, hasMedia } = useWatching();
  const latest = useRef({ onFind, onHelp });
  latest.current = { onFind, onHelp };
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
      f: () => toggleFullScreen(document.querySelector<HTMLElement>('section[aria-label="Player"]')),
    };
    const actionOf = (key: string): (() => void) | undefined => {
      if (!playback.getState().hasKeys) return undefined;
      if (key === "/") return latest.current.onFind;
      return hasMedia ? actions[key.toLowerCase()] : undefined;
    };
    const listen = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (isTaken(event)) return;
      // Help alone is there when the keys are off: it holds the switch.
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
/** What does something of its own by the space bar, or by arrows. */
const pressed =
  "button, a[href], summary, [role=button], [role=slider], [role=tab], [role=checkbox], [role=radio]";
const moved = "[role=slider], [role=tab], [role=radio]";

function isTaken(event: KeyboardEvent): boolean {
  const target = event.target instanceof Element ? event.target : null;
  if (target === null) return false;
  if (target.closest(fields) !== null || target.closest(layers) !== null) return true;
  if (event.key === " ") return target.closest(pressed) !== null;
  return event.key.startsWith("Arrow") && target.closest(moved) !== null;
}
