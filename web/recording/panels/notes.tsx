import { Trans, useLingui } from "@lingui/react/macro";
import { Textarea } from "@mantine/core";
import { IconLock } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { recordingQuery } from "../../api/recording/recording.ts";
import { SavedNotes } from "../../common/notes/saved-notes.tsx";
import { EmptyState } from "../../common/states.tsx";
import { useRecording } from "../context.ts";

/** The user's own notes, saved automatically. */
export function NotesPanel() {
  const { view } = useRecording();
  return view.can.write_private_notes ? (
    <OwnNotes />
  ) : (
    <ReadNotes text={view.recording.private_notes?.text ?? ""} />
  );
}

/** Notes the user wrote before becoming a viewer, or why there are none. */
function ReadNotes({ text }: { text: string }) {
  const { t } = useLingui();
  if (text === "")
    return (
      <EmptyState title={t`No notes`} icon={<IconLock size={30} stroke={1.5} />}>
        <Trans>Viewers can't take notes. Ask an admin to make you a member.</Trans>
      </EmptyState>
    );
  return (
    <Textarea
      label={t`Your notes`}
      description={t`Only visible to you. Viewers can't edit notes.`}
      autosize
      minRows={4}
      maxRows={24}
      dir="auto"
      readOnly
      value={text}
    />
  );
}

function OwnNotes() {
  const { id, view, actions } = useRecording();
  const client = useQueryClient();
  const save = async (text: string): Promise<void> => {
    await actions.writeNotes(text);
    client.setQueryData(recordingQuery(id).queryKey, (shown) =>
      shown === undefined
        ? shown
        : {
            ...shown,
            recording: { ...shown.recording, private_notes: text.trim() === "" ? null : { text } },
          },
    );
  };
  return (
    <SavedNotes
      name={`notes:${id}`}
      saved={view.recording.private_notes?.text ?? ""}
      maxLength={100_000}
      save={save}
    />
  );
}
