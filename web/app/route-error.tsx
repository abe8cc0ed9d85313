import { Trans, useLingui } from "@lingui/react/macro";
import { VisuallyHidden } from "@mantine/core";
import { useRouter } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { isOutage } from "../api/client/api-error.ts";
import { PartNotLoadedError } from "../common/load-part.tsx";
import { canReachServer, ErrorState } from "../common/states.tsx";
import { useTitle } from "../common/use-title.ts";

const retryMs = 5000;

/** Replaces a page that could not be shown. Retries automatically after a lost connection. */
export function RouteError({ error, reset }: { error: unknown; reset: () => void }) {
  const { t } = useLingui();
  const router = useRouter();
  useTitle(t`Error`);
  const retry = (): void => void router.invalidate().then(reset);
  useRepeated(isOutage(error), retry);
  useReloadAfterOutage(error instanceof PartNotLoadedError);
  return (
    <>
      <VisuallyHidden component="h1">
        <Trans>Error</Trans>
      </VisuallyHidden>
      <ErrorState error={error} retry={retry} />
    </>
  );
}

/** Calls `act` repeatedly while `isOn`, and immediately when the browser comes back online. */
function useRepeated(isOn: boolean, act: () => void): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: `act` is a new but equal function on each render.
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(act, retryMs);
    window.addEventListener("online", act);
    return () => {
      clearInterval(timer);
      window.removeEventListener("online", act);
    };
  }, [isOn]);
}

/**
 * Browsers cache a failed module load, so only a reload helps. It is automatic once an unreachable server is back; if the
 * server was reachable all along, the user decides.
 */
function useReloadAfterOutage(isOn: boolean): void {
  const wasUnreachable = useRef(!navigator.onLine);
  const check = async (): Promise<void> => {
    if (!(await canReachServer())) wasUnreachable.current = true;
    else if (wasUnreachable.current) window.location.reload();
  };
  useRepeated(isOn, () => void check());
}
