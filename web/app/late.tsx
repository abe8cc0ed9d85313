import { useEffect } from "react";
import { noteInput } from "../api/client/idle.ts";
import type { Session } from "../api/session.ts";
import { lazyPart } from "../common/load-part.tsx";
import { useBrowserTimeZone } from "../language/use-browser-time-zone.ts";
import { Bell } from "../notifications/bell.tsx";
import { DropAnywhere } from "../uploads/drop-anywhere.tsx";

import { registerServiceWorker } from "./service-worker.tsx";

const SecondFactorNotice = lazyPart(
  async () => (await import("./session/second-factor-notice.tsx")).SecondFactorNotice,
  null,
);

/** Parts of every page that are loaded after it, because they must not delay it. */
export function LateParts({ session }: { session: Session }) {
  useEffect(() => void registerServiceWorker(), []);
  useEffect(watchInput, []);
  const { user, second_factor_due: due } = session;
  useBrowserTimeZone(user.browser_time_zone);
  return (
    <>
      {due === null ? null : <SecondFactorNotice due={due.datetime} />}
      <Bell userId={user.id} />
      <DropAnywhere userId={user.id} />
    </>
  );
}

/** Notes what the user does, whatever stops its events. Scrolling by the page itself is no input. */
function watchInput(): () => void {
  noteInput();
  const watching = new AbortController();
  const options = { capture: true, passive: true, signal: watching.signal };
  for (const event of ["pointerdown", "pointermove", "keydown", "wheel", "touchmove"])
    window.addEventListener(event, noteInput, options);
  return () => watching.abort();
}
