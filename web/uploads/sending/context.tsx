import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from "react";
import { createSender, type Sender, type UploadTask } from "./sender.ts";

const SenderContext = createContext<Sender | null>(null);

/** Keeps uploads running across pages, and asks for confirmation before the window is closed. */
export function SenderProvider({ userId, children }: { userId: string; children: ReactNode }) {
  const queryClient = useQueryClient();
  const [sender] = useState(() => createSender(queryClient, userId));
  const isBusy = useSyncExternalStore(sender.subscribe, () =>
    sender.list().some(({ status }) => ["sending", "waiting", "disconnected"].includes(status)),
  );
  useEffect(() => {
    if (!isBusy) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [isBusy]);
  return <SenderContext value={sender}>{children}</SenderContext>;
}

/** The signed-in user's sender. */
export function useSender(): Sender {
  const sender = useContext(SenderContext);
  if (sender === null) throw new Error("useSender was called outside the signed-in pages");
  return sender;
}

/** The current upload tasks. */
export function useUploadTasks(): readonly UploadTask[] {
  const sender = useSender();
  return useSyncExternalStore(sender.subscribe, sender.list);
}
