import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { useQueryClient } from "@tanstack/react-query";
import { deleteHighlight, type ListedBody } from "../api/highlights.ts";
import { FormDialog } from "../common/dialogs/form-dialog.tsx";
import { ConfirmForm } from "../common/forms/confirm.tsx";
import { LazyLinkManager } from "../link-settings/lazy-link-manager.tsx";
import { AddToStory } from "./add-to-story.tsx";
import { EditHighlight } from "./edit-highlight.tsx";

/** An action chosen from a highlight's menu. */
export interface Action {
  readonly kind: "edit" | "delete" | "story" | "share";
  readonly highlight: ListedBody;
}

const titles = {
  edit: msg`Edit highlight`,
  delete: msg`Delete highlight`,
  story: msg`Add to story`,
  share: msg`Public links`,
} as const;

/** The dialog of the chosen action. */
export function ActionDialogs({ action, onClose }: { action: Action | null; onClose: () => void }) {
  const { t } = useLingui();
  const queryClient = useQueryClient();
  const title = action?.highlight.text;
  const finish = () => {
    void queryClient.invalidateQueries({ queryKey: ["highlights"] });
    void queryClient.invalidateQueries({ queryKey: ["stories"] });
    onClose();
  };
  return (
    <FormDialog
      opened={action !== null}
      onClose={onClose}
      title={action === null ? "" : t(titles[action.kind])}
      size={action?.kind === "share" ? "lg" : "md"}
    >
      {action?.kind === "edit" ? (
        <EditHighlight highlight={action.highlight} onDone={finish} onCancel={onClose} />
      ) : null}
      {action?.kind === "story" ? (
        <AddToStory highlight={action.highlight} onDone={finish} onCancel={onClose} />
      ) : null}
      {action?.kind === "share" ? (
        <LazyLinkManager
          target={{ kind: "highlight", id: action.highlight.id }}
          title={action.highlight.text}
        />
      ) : null}
      {action?.kind === "delete" ? (
        <ConfirmForm
          label={t`Delete highlight`}
          run={() => deleteHighlight(action.highlight.id)}
          onDone={finish}
          onCancel={onClose}
        >
          <Trans>
            This permanently deletes “{title}” for everyone, and removes it from stories. The recording stays.
          </Trans>
        </ConfirmForm>
      ) : null}
    </FormDialog>
  );
}
