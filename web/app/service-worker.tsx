import { t } from "@lingui/core/macro";
import { Trans } from "@lingui/react/macro";
import { Button } from "@mantine/core";
import { notifications } from "@mantine/notifications";

/** How often to check for a new version. */
const checkMs = 60 * 60_000;
const noticeId = "new-version";

/** Registers the service worker, and offers to reload the page once a new version of the app is there. */
export async function registerServiceWorker(): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const { serviceWorker } = navigator;
  // The app works without it, for example where the browser blocks storage.
  const registration = await serviceWorker.register("/service-worker.js").catch(() => null);
  if (registration === null) return;
  let isFirst = serviceWorker.controller === null;
  const offer = (): void => {
    // The first worker replaces none.
    if (registration.waiting !== null && serviceWorker.controller !== null) offerReload(registration);
  };
  const watch = (): void => registration.installing?.addEventListener("statechange", offer);
  offer();
  watch();
  registration.addEventListener("updatefound", watch);
  serviceWorker.addEventListener("controllerchange", () => {
    // Other tabs keep the old version, in which a recording or an upload may run, and offer the new one.
    if (hasAsked) window.location.reload();
    else if (!isFirst) offerReload(registration);
    isFirst = false;
  });
  // Fails without a connection; the next check may succeed.
  setInterval(() => void registration.update().catch(() => undefined), checkMs);
}

/** Whether the user has asked for the new version in this tab. */
let hasAsked = false;

function reload(registration: ServiceWorkerRegistration): void {
  hasAsked = true;
  // In another tab the new version may be active already.
  if (registration.waiting === null) window.location.reload();
  else registration.waiting.postMessage("activate");
}

function offerReload(registration: ServiceWorkerRegistration): void {
  notifications.show({
    id: noticeId,
    title: t`New version`,
    message: (
      <Button size="xs" mt={4} onClick={() => reload(registration)}>
        <Trans>Reload</Trans>
      </Button>
    ),
    autoClose: false,
  });
}
