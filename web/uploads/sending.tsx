import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from "react";
import { createSender, type Sender, type Sending } from "./sender.ts";

const SenderContext = createContext<Sender | null>(null);

/** Keeps files going while the person moves between pages, and asks before the window is closed over them. */
export function SendingProvider({ userId, children }: { userId: string; children: ReactNode }) {
  const queryClient = useQueryClient();
  const [sender] = useState(() => createSender(queryClient, userId));
  const isBusy = useSyncExternalStore(sender.subscribe, () =>
    sender.list().some(({ status }) => ["sending", "waiting", "cut"].includes(status)),
  );
  useEffect(() => {
    if (!isBusy) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [isBusy]);
  return <SenderContext value={sender}>{children}</SenderContext>;
}

/** The sender of the signed-in person. */
export function useSender(): Sender {
  const sender = useContext(SenderContext);
  if (sender === null) throw new Error("outside of the signed-in pages");
  return sender;
}

/** Files on their way, as they change. */
export function useSendings(): readonly Sending[] {
  const sender = useSender();
  return useSyncExternalStore(sender.subscribe, sender.list);
}
