import { t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Anchor, Button, Group, Text } from "@mantine/core";
import { IconDeviceFloppy } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { ApiError } from "../api/client/api-error.ts";
import { findImport, type ImportBody } from "../api/uploads.ts";
import { useAction } from "../common/actions.tsx";
import { bytes } from "../common/format/bytes.ts";
import { fileName } from "../common/format/file-name.ts";
import { day, dayAndTime, lengthInWords } from "../common/format/time.ts";
import { ConfirmButton } from "../common/forms/confirm.tsx";
import { saveAs } from "../common/save-as.ts";
import {
  type ForeignRecording,
  findStored,
  isPlayable,
  type StoredRecording,
  toFile,
} from "./outbox/stored.ts";
import { isConfirmed } from "./outbox/transfer.ts";
import { transfers } from "./outbox/transfers.ts";
import { discardUnfinished, finishUpload } from "./outbox/unfinished.ts";
import { minRecordingMs } from "./recorder.ts";

/** A piece has about one fragment, of a second. */
const pieceMs = 1000;

type Found = Awaited<ReturnType<typeof findStored>>;

/** Offers to finish the recordings that an earlier visit left in this browser. */
export function RecoveryNotice({ userId }: { userId: string }) {
  const [{ own, foreign }, setFound] = useState<Found>({ own: [], foreign: [] });
  const look = useLook(userId, setFound);
  return (
    <>
      {own.map((recording) => (
        <Recovered key={recording.note.uploadId} recording={recording} onGone={look} />
      ))}
      {foreign.map((recording) => (
        <Foreign key={recording.uploadId} recording={recording} onGone={look} />
      ))}
    </>
  );
}

/**
 * Finds stored recordings now, when a transfer of this tab ends, and whenever the user returns to this tab: meanwhile
 * another tab may have finished or discarded them.
 * @returns a function that looks again.
 */
function useLook(userId: string, onFound: (found: Found) => void): () => void {
  const look = (): void => void findStored(userId).then(onFound, () => undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the callbacks are new functions on each render.
  useEffect(() => {
    let count = 0;
    const onTransfers = (): void => {
      const now = transfers.list().length;
      if (now < count) look();
      count = now;
    };
    const onReturn = (): void => {
      if (document.visibilityState === "visible") look();
    };
    look();
    const unsubscribe = transfers.subscribe(onTransfers);
    document.addEventListener("visibilitychange", onReturn);
    window.addEventListener("focus", onReturn);
    return () => {
      unsubscribe();
      document.removeEventListener("visibilitychange", onReturn);
      window.removeEventListener("focus", onReturn);
    };
  }, [userId]);
  return look;
}

function Notice({ title, text, children }: { title: string; text: ReactNode; children: ReactNode }) {
  return (
    <Alert
      color="indigo"
      variant="light"
      mb="md"
      role="status"
      icon={<IconDeviceFloppy size={20} aria-hidden />}
      title={
        <Text c="bright" fw={600} size="sm" span>
          {title}
        </Text>
      }
    >
      <Group justify="space-between" gap="xs">
        <Text size="sm">{text}</Text>
        <Group gap="xs">{children}</Group>
      </Group>
    </Alert>
  );
}

function Recovered({ recording, onGone }: { recording: StoredRecording; onGone: () => void }) {
  const { t } = useLingui();
  const { note, pieces } = recording;
  const { uploadId, title } = note;
  const when = dayAndTime(note.startedAt);
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const finish = useAction({
    run: () => finishUpload(uploadId, queryClient),
    onDone: () => {
      onGone();
      void navigate({ to: "/record/$uploadId", params: { uploadId } });
    },
  });
  const refusal = useRefusal(recording);
  const recordedMs = pieces.at(-1)?.endMs ?? 0;
  const isTooShort = recordedMs < minRecordingMs;
  const length = inMinutes(recordedMs);
  return (
    <Notice
      title={t`Unfinished recording: ${title}`}
      text={
        <>
          <Trans>Recorded {when}.</Trans>{" "}
          {isTooShort
            ? t`It has less than 10 seconds, so it can't be saved.`
            : (refusal ?? t`The part that isn't uploaded yet is stored in this browser.`)}
        </>
      }
    >
      {isTooShort || refusal !== null ? null : (
        <Button size="xs" loading={finish.isPending} onClick={() => finish.mutate()}>
          <Trans>Finish upload ({length} recovered)</Trans>
        </Button>
      )}
      {/* Part of it may be on the server, which still takes the rest. */}
      {isPlayable(recording) && (refusal !== null || pieces[0]?.start === 0) ? (
        <SaveButton recording={recording} />
      ) : null}
      <DiscardButton uploadId={uploadId} onGone={onGone}>
        <Trans>The part of “{title}” in this browser is removed and can't be uploaded later.</Trans>
      </DiscardButton>
    </Notice>
  );
}

/** Why the server doesn't take the rest of a recording; null if it does, or as long as that isn't known. */
function useRefusal({ note: { uploadId }, pieces, first }: StoredRecording): ReactNode {
  const { t } = useLingui();
  const last = pieces.at(-1);
  const total = last === undefined ? 0 : last.start + last.size;
  const { data, error } = useQuery({
    queryKey: ["uploads", "unfinished", uploadId],
    staleTime: 0,
    queryFn: () => findImport(uploadId),
  });
  const rest =
    first === null
      ? t`The part in this browser doesn't play without its beginning.`
      : t`Save the part in this browser as a file to upload it as a recording of its own.`;
  if (error instanceof ApiError && error.status === 404)
    return `${t`The server has removed this upload.`} ${rest}`;
  if (data === undefined || data.upload !== null || isConfirmed(data, total)) return null;
  if (data.failure !== null) {
    const { reason } = data.failure;
    return `${t`The upload failed: ${reason}`} ${rest}`;
  }
  const arrivedMs = pieces[0] === undefined || pieces[0].start === 0 ? 0 : pieces[0].endMs - pieceMs;
  const arrived = inMinutes(arrivedMs);
  return (
    <>
      {arrivedMs > 0
        ? t`The server waited for the rest, then closed the upload with what had arrived, the first ${arrived}.`
        : t`The server waited for the rest, then closed the upload with what had arrived.`}{" "}
      {rest} <OpenRecording found={data} />
    </>
  );
}

function OpenRecording({ found: { recording_id } }: { found: ImportBody }) {
  if (recording_id === null) return null;
  return (
    <Anchor inherit c="bright" underline="always" component={Link} to={`/recordings/${recording_id}`}>
      <Trans>Open what has arrived</Trans>
    </Anchor>
  );
}

/** A recording of which nothing is shown: its user may have left. */
function Foreign({
  recording: { uploadId, at, bytes: size },
  onGone,
}: {
  recording: ForeignRecording;
  onGone: () => void;
}) {
  const { t } = useLingui();
  const [since, amount] = [day(new Date(at).toISOString()), bytes(size)];
  return (
    <Notice
      title={t`Unfinished recording of another user`}
      text={t`Stored in this browser since ${since} (${amount}). Only its user can finish it, after signing in here.`}
    >
      <DiscardButton uploadId={uploadId} onGone={onGone}>
        <Trans>The part in this browser may exist nowhere else. It is removed for its user too.</Trans>
      </DiscardButton>
    </Notice>
  );
}

function DiscardButton(props: { uploadId: string; onGone: () => void; children: ReactNode }) {
  const { t } = useLingui();
  return (
    <ConfirmButton
      text={t`Discard`}
      button={{ size: "xs", variant: "default" }}
      title={t`Discard recording?`}
      label={t`Discard recording`}
      run={() => discardUnfinished(props.uploadId)}
      done={t`Recording discarded.`}
      onDone={props.onGone}
    >
      {props.children}
    </ConfirmButton>
  );
}

/** Saves what is stored, also where the server no longer takes it. */
function SaveButton({ recording }: { recording: StoredRecording }) {
  const save = useAction({
    run: async () => saveAs(await toFile(recording), `${fileName(recording.note.title)}.mp4`),
  });
  return (
    <Button size="xs" variant="default" loading={save.isPending} onClick={() => save.mutate()}>
      <Trans>Save as file</Trans>
    </Button>
  );
}

function inMinutes(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  return minutes > 0 ? t`${minutes} min` : lengthInWords(ms);
}
