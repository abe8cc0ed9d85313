import { ActionIcon, TextInput, Title, Tooltip } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconPencil } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { ApiError } from "../api/client.ts";
import { recordingQuery, refreshRecording } from "../api/recording.ts";
import { useRecording } from "./context.ts";
import classes from "./recording.module.css";

/** The title, which becomes a field where the reader may change it. */
export function RecordingTitle() {
  const { view } = useRecording();
  const [isEditing, setEditing] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  if (isEditing)
    return (
      <TitleField
        onClose={(goesBack) => {
          setEditing(false);
          if (goesBack) setTimeout(() => button.current?.focus());
        }}
      />
    );
  return (
    <div className={classes.titleLine}>
      <Title order={1} className={classes.title ?? ""} dir="auto">
        {view.recording.title}
      </Title>
      {view.can.change ? (
        <Tooltip label="Change the title">
          <ActionIcon
            ref={button}
            variant="subtle"
            color="gray"
            aria-label="Change the title"
            onClick={() => setEditing(true)}
          >
            <IconPencil size={18} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      ) : null}
    </div>
  );
}

function TitleField({ onClose }: { onClose: (goesBack: boolean) => void }) {
  const { id, view, actions } = useRecording();
  const client = useQueryClient();
  const [title, setTitle] = useState(view.recording.title);
  const isDone = useRef(false);
  const rename = useMutation({
    mutationFn: (next: string) => actions.change({ title: next }),
    onSuccess: async (_result, next) => {
      client.setQueryData(recordingQuery(id).queryKey, (before) =>
        before === undefined ? before : { ...before, recording: { ...before.recording, title: next } },
      );
      onClose(true);
      await refreshRecording(client, id);
    },
    onError: (error) => {
      isDone.current = false;
      notifications.show({
        color: "red",
        title: "The title was not changed",
        message: error instanceof ApiError ? error.message : "Something went wrong.",
      });
    },
  });
  const save = (): void => {
    if (isDone.current) return;
    const next = title.trim();
    isDone.current = true;
    if (next === "" || next === view.recording.title) onClose(false);
    else rename.mutate(next);
  };
  return (
    <TextInput
      aria-label="Title"
      size="md"
      autoFocus
      maxLength={500}
      dir="auto"
      value={title}
      disabled={rename.isPending}
      onChange={(event) => setTitle(event.currentTarget.value)}
      onFocus={(event) => event.currentTarget.select()}
      onBlur={save}
      onKeyDown={(event) => {
        if (event.nativeEvent.isComposing) return;
        if (event.key === "Enter") save();
        if (event.key === "Escape") {
          isDone.current = true;
          onClose(true);
        }
      }}
    />
  );
}
