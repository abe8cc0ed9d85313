import { useLingui } from "@lingui/react/macro";
import { ActionIcon, TextInput, Title, Tooltip } from "@mantine/core";
import { IconPencil } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { recordingQuery, refreshRecording } from "../api/recording/recording.ts";
import { errorText } from "../common/actions.tsx";
import { readDraft } from "../common/drafts/store.ts";
import { useDraft, useDraftOwner } from "../common/drafts/use-draft.tsx";
import { useRecording } from "./context.ts";
import classes from "./recording.module.css";

const titleDraft = (recordingId: string): string => `title:${recordingId}`;

/** The title, editable for users who can change the recording. */
export function RecordingTitle() {
  const { t } = useLingui();
  const { id, view } = useRecording();
  const owner = useDraftOwner();
  const [isEditing, setEditing] = useState(
    () => view.can.change && owner !== "" && readDraft(owner, titleDraft(id)) !== null,
  );
  const button = useRef<HTMLButtonElement>(null);
  if (isEditing)
    return (
      <TitleField
        onClose={(restoresFocus) => {
          setEditing(false);
          if (restoresFocus) setTimeout(() => button.current?.focus());
        }}
      />
    );
  return (
    <div className={classes.titleLine}>
      <Title order={1} className={classes.title ?? ""} dir="auto">
        {view.recording.title}
      </Title>
      {view.can.change ? (
        <Tooltip label={t`Edit title`}>
          <ActionIcon
            ref={button}
            variant="subtle"
            color="gray"
            aria-label={t`Edit title`}
            onClick={() => setEditing(true)}
          >
            <IconPencil size={18} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      ) : null}
    </div>
  );
}

function TitleField({ onClose }: { onClose: (restoresFocus: boolean) => void }) {
  const { t } = useLingui();
  const { id, view, actions } = useRecording();
  const client = useQueryClient();
  const draft = useDraft(titleDraft(id), view.recording.title);
  const { value: title } = draft;
  const isDone = useRef(false);
  const close = (restoresFocus: boolean): void => {
    isDone.current = true;
    draft.forget();
    onClose(restoresFocus);
  };
  const rename = useMutation({
    mutationFn: (next: string) => actions.change({ title: next }),
    onSuccess: async (_result, next) => {
      client.setQueryData(recordingQuery(id).queryKey, (before) =>
        before === undefined ? before : { ...before, recording: { ...before.recording, title: next } },
      );
      close(true);
      await refreshRecording(client, id);
    },
  });
  const save = (): void => {
    if (isDone.current || rename.isPending) return;
    const next = title.trim();
    if (next === "" || next === view.recording.title) close(false);
    else rename.mutate(next);
  };
  return (
    <TextInput
      aria-label={t`Title`}
      size="md"
      autoFocus={draft.restoredAt === null}
      maxLength={500}
      dir="auto"
      value={title}
      // A disabled field would lose focus and save again.
      readOnly={rename.isPending}
      description={draft.restoredAt === null ? null : t`Unsaved title restored. Press Enter to save it.`}
      error={rename.isError ? t`Couldn't rename: ${{ reason: errorText(rename.error) }}` : null}
      onChange={(event) => {
        if (rename.isError) rename.reset();
        draft.set(event.currentTarget.value);
      }}
      onFocus={(event) => event.currentTarget.select()}
      onBlur={() => {
        // A failed attempt is repeated on Enter only, so that it is reported once.
        if (!rename.isError) save();
      }}
      onKeyDown={(event) => {
        if (event.nativeEvent.isComposing) return;
        if (event.key === "Enter") save();
        if (event.key === "Escape") close(true);
      }}
    />
  );
}
