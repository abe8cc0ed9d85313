import { Alert, Button, Group, Text } from "@mantine/core";
import { IconDeviceFloppy } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { ConfirmButton } from "../common/dialogs/confirm.tsx";
import { dayAndTime, lengthInWords } from "../common/format/time.ts";
import { createOutbox } from "./outbox/outbox.ts";
import { findStored, type StoredRecording } from "./outbox/pieces.ts";
import { transfers } from "./outbox/transfers.ts";

/** Offers to finish the recordings that an earlier visit left in this browser. */
export function RecoveryNotice({ userId }: { userId: string }) {
  const [stored, setStored] = useState<readonly StoredRecording[]>([]);
  useEffect(() => {
    findStored(userId).then(setStored, () => undefined);
  }, [userId]);
  const remove = (uploadId: string) =>
    setStored((before) => before.filter(({ note }) => note.uploadId !== uploadId));
  return stored.map((recording) => (
    <Recovered
      key={recording.note.uploadId}
      recording={recording}
      onGone={() => remove(recording.note.uploadId)}
    />
  ));
}

function Recovered({ recording, onGone }: { recording: StoredRecording; onGone: () => void }) {
  const { note, folder, pieces } = recording;
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const finish = (): void => {
    const outbox = createOutbox(folder, pieces);
    transfers.begin({ uploadId: note.uploadId, title: note.title, outbox }, { isStarted: true, queryClient });
    void transfers.finish(note.uploadId, note.moments);
    onGone();
    void navigate({ to: "/record/$uploadId", params: { uploadId: note.uploadId } });
  };
  const length = recovered(pieces.at(-1)?.endMs ?? 0);
  return (
    <Alert
      color="indigo"
      variant="light"
      mb="md"
      role="status"
      icon={<IconDeviceFloppy size={20} aria-hidden />}
      title={
        <Text c="bright" fw={600} size="sm" span>
          Unfinished recording: {note.title}
        </Text>
      }
    >
      <Group justify="space-between" gap="xs">
        <Text size="sm">
          Recorded {dayAndTime(note.startedAt)}. What the server doesn't have yet is in this browser.
        </Text>
        <Group gap="xs">
          <Button size="xs" onClick={finish}>
            Finish upload{length}
          </Button>
          <ConfirmButton
            text="Discard"
            button={{ size: "xs", variant: "default" }}
            title="Discard recording?"
            label="Discard recording"
            run={() => transfers.discard(note.uploadId)}
            done="Recording discarded."
            onDone={onGone}
          >
            “{note.title}” is removed from this browser and can't be uploaded later.
          </ConfirmButton>
        </Group>
      </Group>
    </Alert>
  );
}

/** How much was recovered; nothing if all of it is on the server already. */
function recovered(ms: number): string {
  if (ms === 0) return "";
  const minutes = Math.floor(ms / 60_000);
  return ` (${minutes > 0 ? `${minutes} min` : lengthInWords(ms)} recovered)`;
}
