import { Modal } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type ListedBody, removeHighlight } from "../api/highlights.ts";
import { ConfirmForm } from "../common/confirm-form.tsx";
import { Links } from "../links/lazy-manager.tsx";
import { AddToStory } from "./add-to-story.tsx";
import { EditHighlight } from "./edit-highlight.tsx";

/** What is to be done with a highlight. */
export interface Action {
  readonly kind: "edit" | "delete" | "story" | "share";
  readonly highlight: ListedBody;
}

const titles = {
  edit: "Edit highlight",
  delete: "Delete highlight",
  story: "Add to a story",
  share: "Public links",
} as const;

/** The dialog of what is to be done. */
export function ActionDialogs({ action, onClose }: { action: Action | null; onClose: () => void }) {
  const queryClient = useQueryClient();
  const finish = () => {
    void queryClient.invalidateQueries({ queryKey: ["highlights"] });
    void queryClient.invalidateQueries({ queryKey: ["stories"] });
    onClose();
  };
  return (
    <Modal
      opened={action !== null}
      onClose={onClose}
      title={action === null ? "" : titles[action.kind]}
      size={action?.kind === "share" ? "lg" : "md"}
    >
      {action?.kind === "edit" ? (
        <EditHighlight highlight={action.highlight} onDone={finish} onCancel={onClose} />
      ) : null}
      {action?.kind === "story" ? (
        <AddToStory highlight={action.highlight} onDone={finish} onCancel={onClose} />
      ) : null}
      {action?.kind === "share" ? (
        <Links target={{ kind: "highlight", id: action.highlight.id }} title={action.highlight.text} />
      ) : null}
      {action?.kind === "delete" ? (
        <ConfirmForm
          verb="Delete"
          act={() => removeHighlight(action.highlight.id)}
          onDone={finish}
          onCancel={onClose}
        >
          “{action.highlight.text}” is deleted for everybody, also from the stories it is in. The recording
          stays.
        </ConfirmForm>
      ) : null}
    </Modal>
  );
}
