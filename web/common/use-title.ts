import { useLingui } from "@lingui/react/macro";
import { useEffect } from "react";

/** Sets the document title. */
export function useTitle(title: string | undefined): void {
  const { t } = useLingui();
  useEffect(() => {
    document.title = title ? t`${title} · Parley` : "Parley";
  }, [title]);
}
