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
  const isFirst = serviceWorker.controller === null;
  const offer = (): void => {
    // The first worker replaces none.
    if (registration.waiting !== null && serviceWorker.controller !== null) offerReload(registration);
  };
  const watch = (): void => registration.installing?.addEventListener("statechange", offer);
  offer();
  watch();
  registration.addEventListener("updatefound", watch);
  let isReloading = isFirst;
  serviceWorker.addEventListener("controllerchange", () => {
    if (!isReloading) window.location.reload();
    isReloading = false;
  });
  // Fails without a connection; the next check may succeed.
  setInterval(() => void registration.update().catch(() => undefined), checkMs);
}

function offerReload(registration: ServiceWorkerRegistration): void {
  notifications.show({
    id: noticeId,
    title: "New version",
    message: (
      <Button size="xs" mt={4} onClick={() => registration.waiting?.postMessage("activate")}>
        Reload
      </Button>
    ),
    autoClose: false,
  });
}
