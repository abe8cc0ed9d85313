import { useReducedMotion } from "@mantine/hooks";
import type { Virtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useRef, useState } from "react";

const scrollKeys = new Set(["PageUp", "PageDown", "Home", "End", "ArrowUp", "ArrowDown"]);
/** Further than this the list jumps: to glide over hundreds of lines helps nobody. */
const glideLines = 4;

/**
 * Keeps the line that is spoken on the screen, until the reader scrolls. Only what people do with wheel, finger, keys or
 * scrollbar counts as scrolling; the list's own moves don't.
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
  const reach = useRef(virtualizer);
  reach.current = virtualizer;
  useEffect(() => {
    const distance = Math.abs(active - before.current);
    before.current = active;
    // At the beginning the list stands where it should.
    if (!isFollowing || active < 0 || (active === 0 && distance === 0)) return;
    const behavior = distance <= glideLines && !isStill ? "smooth" : "auto";
    reach.current.scrollToIndex(active, { align: "center", behavior });
  }, [active, isFollowing, isStill]);
  useEffect(() => {
    const element = list.current;
    if (element === null || !isOn) return;
    const pause = (): void => setFollowing(false);
    const onKey = (event: KeyboardEvent): void => {
      if (scrollKeys.has(event.key)) pause();
    };
    // Pressed on the element itself, not on a line: the scrollbar.
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
