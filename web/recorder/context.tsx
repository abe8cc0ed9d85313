import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import type { Meeting } from "../api/calendars.ts";
import type { Session } from "../api/session.ts";
import { lazyPart } from "../common/load-part.tsx";

const RecorderRoot = lazyPart(async () => (await import("./root.tsx")).RecorderRoot);

interface RecorderControl {
  readonly isOpen: boolean;
  readonly isNeeded: boolean;
  /** The meeting to record; null: the user says what it is. */
  readonly meeting: Meeting | null;
  setOpen(isOpen: boolean, meeting?: Meeting | null): void;
}

const RecorderContext = createContext<RecorderControl | null>(null);

function useControl(): RecorderControl {
  const control = useContext(RecorderContext);
  if (control === null) throw new Error("the recorder was used outside the signed-in pages");
  return control;
}

/** Opens the dialog that starts a recording, filled in from a meeting if one is given. */
export function useOpenRecorder(): (meeting?: Meeting) => void {
  const { setOpen } = useControl();
  return (meeting) => setOpen(true, meeting ?? null);
}

/** Lets every page start a recording. */
export function RecorderProvider({ children }: { children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const [isNeeded, setNeeded] = useState(false);
  const [meeting, setMeeting] = useState<Meeting | null>(null);
  useEffect(() => {
    hasStored().then(
      (found) => found && setNeeded(true),
      () => undefined,
    );
  }, []);
  const control = {
    isOpen,
    isNeeded: isNeeded || isOpen,
    meeting,
    setOpen(value: boolean, chosen: Meeting | null = null) {
      if (value) setNeeded(true);
      if (value) setMeeting(chosen);
      setOpen(value);
    },
  };
  return <RecorderContext value={control}>{children}</RecorderContext>;
}

/**
 * The recorder and its notices, which stay while the user visits other pages. Its code is loaded when someone records, or
 * left a recording unfinished.
 */
export function RecorderOutlet({ session }: { session: Session }) {
  const { isOpen, isNeeded, meeting, setOpen } = useControl();
  return isNeeded ? (
    <RecorderRoot session={session} isOpen={isOpen} meeting={meeting} onClose={() => setOpen(false)} />
  ) : null;
}

/** Whether an unfinished recording may be stored in this browser. */
export async function hasStored(): Promise<boolean> {
  const storage = await navigator.storage?.getDirectory?.();
  if (storage === undefined) return false;
  return storage.getDirectoryHandle("parley-recordings").then(
    () => true,
    () => false,
  );
}
