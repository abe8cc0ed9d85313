import { lazyDialog } from "../common/dialogs/lazy-dialog.tsx";

/** The dialogs of the recording page. The code of each is loaded when it is opened. */

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

export const DocumentDialog = lazyDialog({
  load: async () => (await import("./print/document-dialog.tsx")).DocumentDialog,
  isOpen,
  closed,
});

export const ClipDialog = lazyDialog({
  load: async () => (await import("./clip/clip-dialog.tsx")).ClipDialog,
  isOpen: ({ range }) => range !== null,
  closed: { range: null },
});

export const SpeakerDialog = lazyDialog({
  load: async () => (await import("./transcript/speaker-dialog.tsx")).SpeakerDialog,
  isOpen: ({ segment }) => segment !== null,
  closed: { segment: null },
});

export const ReplaceDialog = lazyDialog({
  load: async () => (await import("./transcript/replace-dialog.tsx")).ReplaceDialog,
  isOpen,
  closed,
});

export const UploadTranscriptDialog = lazyDialog({
  load: async () => (await import("./transcript/upload-dialog.tsx")).UploadTranscriptDialog,
  isOpen,
  closed,
});

export const ParticipantDialogs = lazyDialog({
  load: async () => (await import("./panels/participant-dialogs.tsx")).ParticipantDialogs,
  isOpen: ({ task }) => task !== null,
  closed: { task: null },
});
