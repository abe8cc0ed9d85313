import { useReducedMotion } from "@mantine/hooks";
import type { Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useRef, useState } from "react";

const scrollKeys = new Set(["PageUp", "PageDown", "Home", "End", "ArrowUp", "ArrowDown"]);
/** Beyond this distance the list jumps instead of scrolling smoothly. */
const smoothScrollLines = 4;

/**
 * Keeps the current line visible until the user scrolls with wheel, touch, keys or scrollbar. Programmatic scrolling doesn't
 * count.
 */
export function useFollow(
  list: RefObject<HTMLElement | null>,
  virtualizer: Virtualizer<HTMLDivElement, Element>,
  active: number,
  isOn: boolean,
) {
  const [isFollowing, setFollowing] = useState(isOn);
  const isStill = useReducedMotion();
  const before = useRef(active);
  const latestVirtualizer = useRef(virtualizer);
  latestVirtualizer.current = virtualizer;
  useEffect(() => {
    const distance = Math.abs(active - before.current);
    before.current = active;
    // Initially the list is already at the right position.
    if (!isFollowing || active < 0 || (active === 0 && distance === 0)) return;
    const behavior = distance <= smoothScrollLines && !isStill ? "smooth" : "auto";
    latestVirtualizer.current.scrollToIndex(active, { align: "center", behavior });
  }, [active, isFollowing, isStill]);
  useEffect(() => {
    const element = list.current;
    if (element === null || !isOn) return;
    const pause = (): void => setFollowing(false);
    const onKey = (event: KeyboardEvent): void => {
      if (scrollKeys.has(event.key)) pause();
    };
    // A press on the element itself is on its scrollbar.
    const onPress = (event: PointerEvent): void => {
      if (event.target === element) pause();
    };
    element.addEventListener("wheel", pause, { passive: true });
    element.addEventListener("touchmove", pause, { passive: true });
    element.addEventListener("keydown", onKey);
    element.addEventListener("pointerdown", onPress);
    return () => {
      element.removeEventListener("wheel", pause);
      element.removeEventListener("touchmove", pause);
      element.removeEventListener("keydown", onKey);
      element.removeEventListener("pointerdown", onPress);
    };
  }, [list, isOn]);
  return { isFollowing, setFollowing };
}
