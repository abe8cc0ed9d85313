import { Alert, Button, Group, Text } from "@mantine/core";
import { IconDeviceFloppy } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useAction } from "../common/actions.tsx";
import { ConfirmButton } from "../common/dialogs/confirm.tsx";
import { fileName } from "../common/format/file-name.ts";
import { dayAndTime, lengthInWords } from "../common/format/time.ts";
import { saveAs } from "../common/save-as.ts";
import { createOutbox } from "./outbox/outbox.ts";
import { findStored, readPiece, type StoredRecording } from "./outbox/pieces.ts";
import { transfers } from "./outbox/transfers.ts";
import { minRecordingMs } from "./recorder.ts";

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
  const recordedMs = pieces.at(-1)?.endMs ?? 0;
  const isTooShort = recordedMs < minRecordingMs;
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
          Recorded {dayAndTime(note.startedAt)}.{" "}
          {isTooShort
            ? "It has less than 10 seconds, so it can't be saved."
            : "The part that isn't uploaded yet is stored in this browser."}
        </Text>
        <Group gap="xs">
          {isTooShort ? null : (
            <Button size="xs" onClick={finish}>
              Finish upload ({recovered(recordedMs)} recovered)
            </Button>
          )}
          {/* The rest alone doesn't play. */}
          {pieces[0]?.start === 0 ? <SaveButton recording={recording} /> : null}
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

/** Saves a recording of which nothing has left the browser, also where the server no longer takes it. */
function SaveButton({ recording: { note, folder, pieces } }: { recording: StoredRecording }) {
  const save = useAction({
    run: async () => {
      const files = await Promise.all(pieces.map((piece) => readPiece(folder, piece)));
      saveAs(new Blob(files, { type: "video/mp4" }), `${fileName(note.title)}.mp4`);
    },
  });
  return (
    <Button size="xs" variant="default" loading={save.isPending} onClick={() => save.mutate()}>
      Save as file
    </Button>
  );
}

function recovered(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  return minutes > 0 ? `${minutes} min` : lengthInWords(ms);
}
