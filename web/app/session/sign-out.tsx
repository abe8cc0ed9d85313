import { t } from "@lingui/core/macro";
import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { type Session, signOut } from "../../api/session.ts";
import { lazyDialog } from "../../common/dialogs/lazy-dialog.tsx";
import { ownerOf, removeAllDrafts } from "../../common/drafts/store.ts";
import { hasStored } from "../../recorder/context.tsx";
import type { RecordingNote } from "../../recorder/outbox/pieces.ts";
import type { SignOutDialogProps } from "../../recorder/sign-out-dialog.tsx";
import { clearSharedFiles } from "../../uploads/shared-files.ts";

const SignOutDialog = lazyDialog<SignOutDialogProps>({
  load: async () => (await import("../../recorder/sign-out-dialog.tsx")).SignOutDialog,
  isOpen: ({ recordings }) => recordings !== null,
  closed: { recordings: null },
});

/** Ends the session, and asks first what becomes of recordings of which a part is only in this browser. */
export function useSignOut(session: Session): { readonly run: () => void; readonly dialog: ReactNode } {
  const [recordings, setRecordings] = useState<readonly RecordingNote[] | null>(null);
  const leave = useMutation({
    mutationFn: async () => {
      const unsent = await findUnsent(session.user.id);
      if (unsent.length > 0) setRecordings(unsent);
      else await endSession(session);
    },
    onError: ({ message }) => notifications.show({ color: "red", title: t`Couldn't sign out`, message }),
  });
  const dialog = (
    <SignOutDialog
      recordings={recordings}
      onClose={() => setRecordings(null)}
      onSignOut={() => endSession(session)}
    />
  );
  return { run: () => leave.mutate(), dialog };
}

/** Once the server has ended the session, the page with its data is left in any case. */
async function endSession(session: Session): Promise<void> {
  await signOut();
  try {
    removeAllDrafts(ownerOf(session));
    await clearSharedFiles();
  } catch {
    // The browser's storage failed. The visit of another user removes shared files.
  } finally {
    window.location.assign("/sign-in");
  }
}

async function findUnsent(userId: string): Promise<readonly RecordingNote[]> {
  // Where the browser blocks storage, nothing is stored.
  if (!(await hasStored().catch(() => false))) return [];
  const part = await import("../../recorder/outbox/stored.ts").catch(() => null);
  if (part === null) throw new Error(t`You may be offline, or Parley was updated. Reload the page.`);
  return part.findUnsent(userId).catch(() => []);
}
