import { useDebouncedCallback } from "@mantine/hooks";
import { useRouter } from "@tanstack/react-router";
import { useRef } from "react";

const typingPauseMs = 400;

/**
 * Reports text after a pause in typing. Nothing is reported once the user has gone to another page: a change of the URL
 * would cancel that navigation while the page is still loading.
 */
export function useReportAfterPause(onChange: (text: string) => void): {
  (text: string): void;
  cancel(): void;
} {
  const router = useRouter();
  const typedAt = useRef("");
  const report = useDebouncedCallback(
    (text: string) => {
      if (router.latestLocation.pathname === typedAt.current) onChange(text);
    },
    // A sheet of filters may be closed during the pause.
    { delay: typingPauseMs, flushOnUnmount: true },
  );
  return Object.assign(
    (text: string) => {
      typedAt.current = router.latestLocation.pathname;
      report(text);
    },
    { cancel: () => report.cancel() },
  );
}
