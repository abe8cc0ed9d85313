import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Overlay, Text } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useSender } from "./sending/context.tsx";
import { discardSharedFiles, offerSharedFiles, uploadSharedFiles } from "./shared-files.ts";
import { askToUpload } from "./shared-files-notice.tsx";

/** Why the service worker did not store shared files. */
const failures: Readonly<Record<string, MessageDescriptor>> = {
  failed: msg`The browser's storage may be full. Choose the files on this page.`,
  full: msg`Up to 20 shared files of 4 GB in all can wait. Upload or discard the waiting ones first.`,
  refused: msg`Another website tried to send files to Parley. If you want to upload them, choose them on this page.`,
};

const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") === true;

/** Whether a dialog is open, which may take files itself. */
const isDialogOpen = (): boolean => document.querySelector('[role="dialog"]') !== null;

/** Uploads files that are dropped on any page, and those that other apps have shared. */
export function DropAnywhere({ userId }: { userId: string }) {
  const { t } = useLingui();
  const sender = useSender();
  const navigate = useNavigate();
  const [willBeReviewed] = useLocalStorage({ key: "parley-review-uploads", defaultValue: false });
  const [isOver, setOver] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once; a later choice is for later files.
  useEffect(() => {
    // Another window may have closed before it had uploaded its files.
    const look = (): void => {
      if (document.visibilityState === "hidden") return;
      // Storage is blocked in some browsers.
      offerSharedFiles(userId, async (shared) => {
        // Other web sites can share files too, so that the user decides.
        if (await askToUpload([...shared.keys()])) await uploadSharedFiles(sender, shared, willBeReviewed);
        else await discardSharedFiles(shared.values());
      }).catch(() => undefined);
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [sender, userId]);
  useEffect(() => {
    const message = failures[new URLSearchParams(window.location.search).get("share") ?? ""];
    if (message === undefined) return;
    notifications.show({
      color: "red",
      title: t`Couldn't take the shared files`,
      message: t(message),
      autoClose: false,
    });
    void navigate({ to: "/uploads", replace: true });
  }, [navigate, t]);
  useEffect(() => {
    // Entering a child element leaves its parent.
    let depth = 0;
    const onEnter = (event: DragEvent): void => {
      if (!hasFiles(event) || isDialogOpen()) return;
      depth += 1;
      setOver(true);
    };
    const onLeave = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    // Otherwise the browser would open the file in place of the app.
    const onOver = (event: DragEvent): void => {
      if (event.defaultPrevented || !hasFiles(event)) return;
      event.preventDefault();
      if (isDialogOpen() && event.dataTransfer !== null) event.dataTransfer.dropEffect = "none";
    };
    const onDrop = (event: DragEvent): void => {
      depth = 0;
      setOver(false);
      // The field on the Uploads page, or a dialog, has taken them.
      if (event.defaultPrevented || !hasFiles(event)) return;
      event.preventDefault();
      if (isDialogOpen()) return;
      void sender.add([...(event.dataTransfer?.files ?? [])], { willBeReviewed, spokenLanguage: "auto" });
      void navigate({ to: "/uploads" });
    };
    const listeners = { dragenter: onEnter, dragleave: onLeave, dragover: onOver, drop: onDrop };
    for (const [name, listener] of Object.entries(listeners))
      window.addEventListener(name, listener as EventListener);
    return () => {
      for (const [name, listener] of Object.entries(listeners))
        window.removeEventListener(name, listener as EventListener);
    };
  }, [sender, navigate, willBeReviewed]);
  if (!isOver) return null;
  return (
    <Overlay fixed center backgroundOpacity={0.6} zIndex={9000} style={{ pointerEvents: "none" }}>
      <Text c="white" fw={650} size="xl" role="status">
        <Trans>Drop files to upload</Trans>
      </Text>
    </Overlay>
  );
}
