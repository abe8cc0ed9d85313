/*
 * The service worker of the web app. Pages always come from the network, so an upgrade is never hidden by a cache; without
 * a network they are replaced by the offline page. Only files of the app whose names change with their content are cached:
 * no page, no response of the API and no media file, so nothing private remains in the cache.
 *
 * The server replaces %build% by the name of the build, so that browsers find a new worker after each upgrade.
 */

const cacheName = "parley-%build%";
const offlinePage = "/offline";
const shareTarget = "/share-target";
const maxSharedFiles = 20;
/** Of all stored files together. */
const maxSharedBytes = 4 * 1024 ** 3;

self.addEventListener("install", (event) => event.waitUntil(storeOfflinePage()));
self.addEventListener("activate", (event) => event.waitUntil(takeOver()));
self.addEventListener("message", (event) => {
  if (event.data === "activate") self.skipWaiting();
});
self.addEventListener("fetch", (event) => {
  const response = respond(event);
  if (response !== null) event.respondWith(response);
});

/** The offline page with its style sheet and icon. */
async function storeOfflinePage() {
  const cache = await caches.open(cacheName);
  const page = await fetch(offlinePage, { cache: "reload" });
  const [, styles] = /rel="stylesheet" href="([^"]+)"/.exec(await page.clone().text()) ?? [];
  await cache.put(offlinePage, page);
  await cache.addAll(["/icon.svg", ...(styles === undefined ? [] : [styles])]);
}

/** Removes the files of earlier builds, except for the last one: other tabs may still run it, such as one that records. */
async function takeOver() {
  const earlier = (await caches.keys()).filter((name) => name !== cacheName);
  await Promise.all(earlier.slice(0, -1).map((name) => caches.delete(name)));
  await self.registration.navigationPreload?.enable();
  await self.clients.claim();
}

/** Null for requests that the browser sends itself, as without a service worker. */
function respond(event) {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== self.location.origin) return null;
  if (request.method === "POST" && pathname === shareTarget) return receiveFiles(request);
  if (request.method !== "GET" || pathname.startsWith("/_/")) return null;
  if (request.mode === "navigate") return fromNetwork(event);
  return pathname.startsWith("/assets/") || pathname === "/icon.svg" ? fromCache(request) : null;
}

async function fromNetwork(event) {
  try {
    return (await event.preloadResponse) ?? (await fetch(event.request));
  } catch (error) {
    const page = await caches.match(offlinePage);
    if (page === undefined) throw error;
    return page;
  }
}

async function fromCache(request) {
  const known = await caches.match(request);
  if (known !== undefined) return known;
  const response = await fetch(request);
  if (response.ok && response.status === 200) {
    const copy = response.clone();
    const cache = await caches.open(cacheName);
    // Storage may be full; the response is good all the same.
    await cache.put(request, copy).catch(() => undefined);
  }
  return response;
}

/**
 * Stores files that another app has shared, until the user has uploaded or discarded them. A form of another site is
 * refused; one that hides where it comes from looks like an app, so the web app asks and says that they come from
 * outside.
 */
async function receiveFiles(request) {
  if (isOfOtherSite(request.referrer)) return Response.redirect("/uploads?share=refused", 303);
  try {
    const form = await request.formData();
    const files = form.getAll("files").filter((file) => file instanceof File);
    const hasRoom = await storeFiles(files);
    if (!hasRoom) return Response.redirect("/uploads?share=full", 303);
    return Response.redirect("/uploads", 303);
  } catch {
    // The browser's storage is full, or blocked.
    return Response.redirect("/uploads?share=failed", 303);
  }
}

/** @param referrer empty, or about:client, if the browser or an app opened the page. */
function isOfOtherSite(referrer) {
  return referrer.startsWith("http") && new URL(referrer).origin !== self.location.origin;
}

/**
 * Stores files, all of them or none. The same database as in web/uploads/shared-files.ts.
 * @returns false if there would be too many or too large files in all.
 */
function storeFiles(files) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("parley-shared", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("files", { autoIncrement: true });
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const transaction = opening.result.transaction("files", "readwrite");
      const store = transaction.objectStore("files");
      let hasRoom = false;
      const reading = store.getAll();
      reading.onsuccess = () => {
        const all = [...reading.result.map(({ file }) => file), ...files];
        const bytes = all.reduce((sum, { size }) => sum + size, 0);
        hasRoom = all.length <= maxSharedFiles && bytes <= maxSharedBytes;
        if (hasRoom) for (const file of files) store.add({ file, at: Date.now() });
      };
      transaction.oncomplete = () => {
        opening.result.close();
        resolve(hasRoom);
      };
      transaction.onabort = () => reject(transaction.error);
    };
  });
}
