import { useEffect } from "react";
import { watchInput } from "../api/client/idle.ts";
import type { Session } from "../api/session.ts";
import { lazyPart } from "../common/load-part.tsx";
import { Bell } from "../notifications/bell.tsx";
import { DropAnywhere } from "../uploads/drop-anywhere.tsx";
import { registerServiceWorker } from "./service-worker.tsx";

const SecondFactorNotice = lazyPart(
  async () => (await import("./second-factor-notice.tsx")).SecondFactorNotice,
  null,
);

/** Parts of every page that are loaded after it, because they must not delay it. */
export function LateParts({ session }: { session: Session }) {
  useEffect(() => {
    watchInput();
    void registerServiceWorker();
  }, []);
  const { user, second_factor_due: due } = session;
  return (
    <>
      {due === null ? null : <SecondFactorNotice due={due.datetime} />}
      <Bell />
      <DropAnywhere userId={user.id} />
    </>
  );
}
