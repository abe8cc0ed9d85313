import { t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { HighlightBody } from "../../api/highlights.ts";
import { useClipboard } from "../../common/clipboard.ts";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { AddToStory } from "../../highlights/add-to-story.tsx";
import { LazyLinkManager } from "../../link-settings/lazy-link-manager.tsx";

/** Long enough to read and choose. */
const shownMs = 12_000;

/** What can be done next with a new clip. */
export interface ClipAction {
  readonly kind: "share" | "story";
  readonly clip: HighlightBody;
}

/** Says that a clip was created, with what people do next. @param url of the clip, as copied. */
export function showClipToast(options: {
  readonly clip: HighlightBody;
  readonly url: string;
  readonly isCopied: boolean;
  /** null if the user may not create public links. */
  readonly onShare: (() => void) | null;
  readonly onAddToStory: () => void;
}): void {
  const { clip, ...rest } = options;
  const id = `clip-${clip.id}`;
  notifications.show({
    id,
    title: options.isCopied ? t`Clip created, link copied` : t`Clip created`,
    message: <ToastActions {...rest} onDone={() => notifications.hide(id)} />,
    autoClose: shownMs,
  });
}

function ToastActions(props: {
  url: string;
  onShare: (() => void) | null;
  onAddToStory: () => void;
  onDone: () => void;
}) {
  const { t } = useLingui();
  const { url, onShare, onAddToStory, onDone } = props;
  const copy = useClipboard();
  const then = (act: () => void) => () => {
    onDone();
    act();
  };
  return (
    <Group gap={6} mt={4}>
      <Button size="compact-sm" variant="light" onClick={() => void copy.text(url, t`Link copied`)}>
        <Trans>Copy link</Trans>
      </Button>
      {onShare === null ? null : (
        <Button size="compact-sm" variant="light" onClick={then(onShare)}>
          <Trans>Share clip</Trans>
        </Button>
      )}
      <Button size="compact-sm" variant="light" onClick={then(onAddToStory)}>
        <Trans>Add to story</Trans>
      </Button>
    </Group>
  );
}

/** The dialog of an action chosen in the toast. */
export function ClipActionDialog({ action, onClose }: { action: ClipAction | null; onClose: () => void }) {
  const { t } = useLingui();
  return (
    <FormDialog
      opened={action !== null}
      onClose={onClose}
      title={action?.kind === "share" ? t`Public links` : t`Add to story`}
      size={action?.kind === "share" ? "lg" : "md"}
    >
      {action === null ? null : action.kind === "share" ? (
        <>
          <Text size="sm" c="dimmed" mb="sm" dir="auto">
            {action.clip.text}
          </Text>
          <LazyLinkManager target={{ kind: "highlight", id: action.clip.id }} title={action.clip.text} />
        </>
      ) : (
        <AddToStory highlight={action.clip} onDone={onClose} onCancel={onClose} />
      )}
    </FormDialog>
  );
}
