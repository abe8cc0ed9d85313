import { lazyDialog } from "../../common/dialogs/lazy-dialog.tsx";

/** Its code is loaded when it is first opened. */
export const LazyJoinDialog = lazyDialog({
  load: async () => (await import("./join-dialog.tsx")).JoinDialog,
  isOpen: ({ isOpen }) => isOpen,
  closed: { isOpen: false },
});
