import { useDisclosure, useHotkeys } from "@mantine/hooks";
import type { Session } from "../api/session.ts";
import { lazyDialog } from "../common/dialogs/lazy-dialog.tsx";

const Palette = lazyDialog({
  load: async () => (await import("../palette/palette.tsx")).Palette,
  isOpen: ({ isOpen }) => isOpen,
  closed: { isOpen: false },
});

/** The command palette. Ctrl+K or Cmd+K opens it, also while typing. */
export function CommandPalette({ session }: { session: Session }) {
  const [isOpen, { toggle, close }] = useDisclosure();
  useHotkeys([["mod+k", toggle]], []);
  return <Palette session={session} isOpen={isOpen} onClose={close} />;
}
