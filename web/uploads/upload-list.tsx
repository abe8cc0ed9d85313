import { Trans, useLingui } from "@lingui/react/macro";
import { Button, FileButton, Group, Skeleton, Stack, Text, Title, VisuallyHidden } from "@mantine/core";
import { IconFileText, IconVideo, IconVolume } from "@tabler/icons-react";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { type UploadBody, uploadsQuery } from "../api/uploads.ts";
import { bytes } from "../common/format/bytes.ts";
import { namesInLine } from "../common/format/names.ts";
import { number } from "../common/format/numbers.ts";
import { dayAndTime, fullTime } from "../common/format/time.ts";
import { recordingUrl } from "../common/recording-url.ts";
import { ErrorState } from "../common/states.tsx";
import { ConversionProgress } from "./conversion-progress.tsx";
import { abandonUpload, type UploadTask } from "./sending/sender.ts";
import { joinedName } from "./sending/task-name.ts";
import { findParts, isSameFile, readMemory, type Unfinished } from "./sending/upload-memory.ts";
import { StateBadge } from "./state-badge.tsx";
import { adviceFor, stateOf } from "./status.ts";
import classes from "./uploads.module.css";

const icons = { video: IconVideo, audio: IconVolume, transcript: IconFileText } as const;

interface ListProps {
  readonly userId: string;
  readonly tasks: readonly UploadTask[];
  /** Called with files the user chose again. */
  readonly onChoose: (files: readonly File[]) => void;
  /** Called with all files of a joined upload, in their order. */
  readonly onJoin: (files: readonly File[], title: string) => void;
}

/** The user's uploads, kept up to date; unfinished ones first. */
export function UploadList({ userId, tasks, onChoose, onJoin }: ListProps) {
  const { t } = useLingui();
  const query = useInfiniteQuery(uploadsQuery);
  const [, setChanges] = useState(0);
  const queryClient = useQueryClient();
  if (query.isPending) return <Skeleton height={220} radius="lg" />;
  if (query.isError && query.data === undefined)
    return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const { unfinished, dropped } = readMemory(userId);
  const active = new Set(tasks.map(({ uploadId }) => uploadId));
  const uploads = query.data.pages
    .flatMap((page) => page.uploads)
    .filter(({ id, status }) => !active.has(id) && !(status !== "success" && dropped.includes(id)));
  const known = new Map(unfinished.map((one) => [one.uploadId, one]));
  const waiting = uploads.filter(({ id, status }) => status === "awaiting" && known.has(id));
  const others = uploads.filter((upload) => !waiting.includes(upload));
  return (
    <>
      <StateAnnouncer uploads={uploads} />
      {waiting.length === 0 ? null : (
        <section aria-label={t`Unfinished`}>
          <Title order={2} size="h4" mb="xs">
            <Trans>Unfinished</Trans>
          </Title>
          <ul className={classes.list}>
            {waiting.map((upload) => (
              <li key={upload.id}>
                <UnfinishedRow
                  known={known.get(upload.id) as Unfinished}
                  onChoose={onChoose}
                  onJoin={onJoin}
                  onDrop={() => {
                    const redraw = (): void => setChanges((count) => count + 1);
                    const one = known.get(upload.id) as Unfinished;
                    void abandonUpload(queryClient, userId, one).then(redraw);
                    redraw();
                  }}
                />
              </li>
            ))}
          </ul>
        </section>
      )}
      <section aria-label={t`Your uploads`}>
        <Title order={2} size="h4" mb="xs">
          <Trans>Your uploads</Trans>
        </Title>
        {others.length === 0 ? (
          <Text c="dimmed">
            <Trans>Your uploads and their status appear here.</Trans>
          </Text>
        ) : (
          <ul className={classes.list}>
            {others.map((upload) => (
              <li key={upload.id}>
                <UploadRow upload={upload} />
              </li>
            ))}
          </ul>
        )}
        {query.hasNextPage ? (
          <Group justify="center" mt="sm">
            <Button
              variant="default"
              loading={query.isFetchingNextPage}
              onClick={() => query.fetchNextPage()}
            >
              <Trans>Show older uploads</Trans>
            </Button>
          </Group>
        ) : null}
      </section>
    </>
  );
}

/** Announces state changes of uploads to screen readers. */
function StateAnnouncer({ uploads }: { uploads: readonly UploadBody[] }) {
  const before = useRef<ReadonlyMap<string, string> | null>(null);
  const [text, setText] = useState("");
  useEffect(() => {
    const known = before.current;
    before.current = new Map(uploads.map((upload) => [upload.id, stateOf(upload)]));
    const changed = uploads.find((upload) => known !== null && known.get(upload.id) !== stateOf(upload));
    if (changed !== undefined) setText(`${changed.title}: ${stateOf(changed)}`);
  }, [uploads]);
  return <VisuallyHidden role="status">{text}</VisuallyHidden>;
}

function UploadRow({ upload }: { upload: UploadBody }) {
  const Icon = icons[upload.media_type];
  const advice = adviceFor(upload);
  const isDone = upload.status === "success" && upload.recording_id !== null;
  return (
    <div className={classes.row}>
      <Icon size={24} stroke={1.4} aria-hidden className={classes.kind ?? ""} />
      <div className={classes.grow}>
        <Link
          to={isDone ? recordingUrl(upload.recording_id ?? "") : `/uploads/${upload.id}`}
          className={classes.link ?? ""}
        >
          {upload.title}
        </Link>
        <Text size="sm" c="dimmed">
          <time dateTime={upload.created_datetime} title={fullTime(upload.created_datetime)}>
            {dayAndTime(upload.created_datetime)}
          </time>
        </Text>
        {upload.failure === undefined ? null : (
          <Text size="sm" c="var(--mantine-color-error)">
            {upload.failure.reason}
          </Text>
        )}
        <ConversionProgress upload={upload} />
        {advice === null ? null : <Text size="sm">{advice}</Text>}
      </div>
      <StateBadge upload={upload} />
    </div>
  );
}

function UnfinishedRow(props: {
  known: Unfinished;
  onChoose: (files: readonly File[]) => void;
  onJoin: (files: readonly File[], title: string) => void;
  onDrop: () => void;
}) {
  const { t } = useLingui();
  const { known } = props;
  const { parts } = known;
  const [isOtherFile, setOtherFile] = useState(false);
  const name = parts === undefined ? known.name : joinedName(known.title ?? known.name, parts.length);
  const choose = (files: readonly File[]): void => {
    const [file] = files;
    if (file === undefined) return;
    const joined = parts === undefined ? null : findParts(known, files);
    const isSame = parts === undefined ? isSameFile(known, file) : joined !== null;
    setOtherFile(!isSame);
    if (joined !== null) props.onJoin(joined, known.title ?? known.name);
    else if (isSame) props.onChoose([file]);
  };
  const uploaded = known.sent <= 0 ? number(0) : bytes(known.sent);
  const size = bytes(known.size);
  const partNames = namesInLine(parts?.map((part) => part.name) ?? [], parts?.length);
  return (
    <div className={classes.sending}>
      <Group justify="space-between" gap="xs">
        <div className={classes.grow}>
          <Text fw={600} className={classes.name ?? ""}>
            {name}
          </Text>
          <Text size="sm" c="dimmed">
            {parts === undefined
              ? t`${uploaded} of ${size} uploaded · choose the same file to resume`
              : t`${uploaded} of ${size} uploaded · choose the same files to resume: ${partNames}`}
          </Text>
        </div>
        <Group gap="xs">
          <FileButton
            multiple={parts !== undefined}
            onChange={(chosen: File | readonly File[] | null) =>
              choose(chosen instanceof File ? [chosen] : (chosen ?? []))
            }
          >
            {(button) => (
              <Button
                {...button}
                size="xs"
                aria-label={parts === undefined ? t`Choose file ${name}` : t`Choose files of ${name}`}
              >
                {parts === undefined ? t`Choose file` : t`Choose files`}
              </Button>
            )}
          </FileButton>
          <Button size="xs" variant="default" aria-label={t`Cancel upload of ${name}`} onClick={props.onDrop}>
            <Trans>Cancel upload</Trans>
          </Button>
        </Group>
      </Group>
      <Stack gap={0} role="status">
        {isOtherFile ? (
          <Text size="sm" c="var(--mantine-color-error)">
            {parts === undefined
              ? t`This isn't the same file. Choose the original to resume.`
              : t`These aren't all of the files. Choose the originals together to resume.`}
          </Text>
        ) : null}
      </Stack>
    </div>
  );
}
