import { useEffect, useRef } from "react";

/** Calls when an element comes near the window's end, and again each time what is above it changed. */
export function useMoreWhenSeen(load: () => void): React.RefObject<HTMLDivElement | null> {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && load(), {
      rootMargin: "800px",
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  });
  return element;
}
