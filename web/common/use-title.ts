import { useEffect } from "react";

/** Names the page in the browser's tab and for screen readers. */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title ? `${title} · Parley` : "Parley";
  }, [title]);
}
