import { useEffect } from "react";
import { setBrowserTimeZone } from "../api/settings/account.ts";

/**
 * Lets the server know the browser's time zone, for times in emails, when it is another than before.
 * @param known what the server has; null: nothing yet.
 */
export function useBrowserTimeZone(known: string | null): void {
  useEffect(() => {
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    // A name that the server doesn't know is left at that: emails then name UTC.
    if (timeZone !== known) setBrowserTimeZone(timeZone).catch(() => undefined);
  }, [known]);
}
