import { lazyDialog } from "../common/lazy-dialog.tsx";

/** The dialogs of a recording; the code of each comes when it is opened. */

const isOpen = (props: { readonly isOpen: boolean }): boolean => props.isOpen;
const closed = { isOpen: false };

export const ShareDialog = lazyDialog({
  load: async () => (await import("./share/share-dialog.tsx")).ShareDialog,
  isOpen,
  closed,
});

export const DeleteDialog = lazyDialog({
  load: async () => (await import("./delete-dialog.tsx")).DeleteDialog,
  isOpen,
  closed,
});

export const TranscribeAgainDialog = lazyDialog({
  load: async () => (await import("./transcribe-again.tsx")).TranscribeAgainDialog,
  isOpen,
  closed,
});

export const ClipDialog = lazyDialog({
  load: async () => (await import("./clip-dialog.tsx")).ClipDialog,
  isOpen: ({ range }) => range !== null,
  closed: { range: null },
});

export const SpeakerDialog = lazyDialog({
  load: async () => (await import("./transcript/speaker-dialog.tsx")).SpeakerDialog,
  isOpen: ({ segment }) => segment !== null,
  closed: { segment: null },
});

export const SupplyDialog = lazyDialog({
  load: async () => (await import("./transcript/supply-dialog.tsx")).SupplyDialog,
  isOpen,
  closed,
});

export const PersonDialogs = lazyDialog({
  load: async () => (await import("./panels/person-dialogs.tsx")).PersonDialogs,
  isOpen: ({ task }) => task !== null,
  closed: { task: null },
});
