import { useEffect } from "react";
import { Bell } from "../notifications/bell.tsx";
import { DropAnywhere } from "../uploads/drop-anywhere.tsx";
import { registerServiceWorker } from "./service-worker.tsx";

/** Parts of every page that are loaded after it, because they must not delay it. */
export function LateParts({ userId }: { userId: string }) {
  useEffect(() => void registerServiceWorker(), []);
  return (
    <>
      <Bell />
      <DropAnywhere userId={userId} />
    </>
  );
}
