import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import { useDraft } from "../../common/drafts/use-draft.tsx";
import type { EditorProps } from "../../transcript/row.tsx";
import classes from "../../transcript/transcript.module.css";
import { useRecording } from "../context.ts";
import { editErrorText, isEditConflict, useCorrection } from "./use-edit.ts";

/** The draft name of a line's text. */
export function lineDraft(recordingId: string, index: number | ""): string {
  return `line:${recordingId}:${index}`;
}

/** Edits a line's text: Enter saves, Escape discards. Unsaved text is kept as a draft. */
export function LineEditor({ segment, version, onClose: close }: EditorProps) {
  const { t } = useLingui();
  const { id } = useRecording();
  const draft = useDraft(lineDraft(id, segment.index), segment.text);
  const { value: text, set: setText } = draft;
  // The version shown when the edit started, so that edits by others are not overwritten.
  const [seen, setSeen] = useState(version);
  const [before] = useState(segment.text);
  // A restored draft whose line someone else has changed since.
  const [isConflict, setConflict] = useState(draft.isOutdated);
  const correction = useCorrection();
  const currentText = segment.text;
  const onClose = (): void => {
    draft.forget();
    close();
  };
  const save = (): void => {
    if (text.trim() === segment.text.trim()) {
      onClose();
      return;
    }
    correction.mutate(
      // Changes to other lines are not a conflict.
      { version: segment.text === before ? version : seen, index: segment.index, text: text.trim() },
      { onSuccess: onClose, onError: (error) => setConflict(isEditConflict(error)) },
    );
  };
  return (
    <div className={classes.editor}>
      <Textarea
        autosize
        autoFocus
        minRows={1}
        maxRows={12}
        dir="auto"
        aria-label={t`Line text`}
        value={text}
        maxLength={10_000}
        disabled={correction.isPending}
        onChange={(event) => setText(event.currentTarget.value)}
        onFocus={(event) => event.currentTarget.setSelectionRange(text.length, text.length)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Escape") {
            event.stopPropagation();
            onClose();
          } else if (event.key === "Enter" && !event.shiftKey) {
            event.preventDefault();
            if (!isConflict) save();
          }
        }}
      />
      {draft.restoredAt === null || isConflict ? null : (
        <Text size="sm" c="dimmed" mt={6} role="status">
          <Trans>Unsaved change restored.</Trans>
        </Text>
      )}
      {correction.isError ? (
        <Text size="sm" c="var(--mantine-color-error)" mt={6} role="alert">
          {editErrorText(correction.error)}
        </Text>
      ) : null}
      {isConflict && segment.text !== text ? (
        <Text size="sm" mt={6}>
          <Trans>Current text: “{currentText}”</Trans>
        </Text>
      ) : null}
      <Group gap="xs" mt={6}>
        {isConflict ? (
          <Button
            size="compact-sm"
            onClick={() => {
              setSeen(version);
              setConflict(false);
              correction.reset();
            }}
          >
            <Trans>Keep my version</Trans>
          </Button>
        ) : (
          <Button size="compact-sm" loading={correction.isPending} onClick={save}>
            <Trans>Save</Trans>
          </Button>
        )}
        <Button size="compact-sm" variant="default" onClick={onClose}>
          <Trans>Cancel</Trans>
        </Button>
      </Group>
    </div>
  );
}
