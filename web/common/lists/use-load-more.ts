import { useEffect, useRef } from "react";

/** Calls `load` when the element is near the viewport, and again after each render. */
export function useLoadMore(load: () => void): React.RefObject<HTMLDivElement | null> {
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
