import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Loader, Skeleton, Stack, Text, Title } from "@mantine/core";
import { IconAlertTriangle, IconCircleCheck, IconFileUpload } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type UploadBody, uploadedFileQuery, uploadQuery } from "../api/uploads.ts";
import { BackLink } from "../common/page-frame.tsx";
import { recordingUrl } from "../common/recording-url.ts";
import { EmptyState, ErrorState } from "../common/states.tsx";
import { useTitle } from "../common/use-title.ts";
import { ConversionProgress } from "./conversion-progress.tsx";
import { AudioTracks } from "./review/audio-tracks.tsx";
import { ChatNotes } from "./review/chat-notes.tsx";
import { ReviewForm } from "./review/review-form.tsx";
import { TranscriptFile } from "./review/transcript-file.tsx";
import { TranscriptPreview } from "./review/transcript-preview.tsx";
import { StateBadge } from "./state-badge.tsx";
import { adviceFor, stateOf } from "./status.ts";

const page = getRouteApi("/signed-in/uploads/$uploadId");

/** One upload: its state, and its review before it becomes a recording. */
export function UploadPage() {
  const { t } = useLingui();
  const { uploadId } = page.useParams();
  const query = useQuery(uploadQuery(uploadId));
  useTitle(query.data?.title);
  if (query.isPending) return <Skeleton height={420} radius="lg" maw={760} mx="auto" />;
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const upload = query.data;
  return (
    <Stack gap="lg" maw={760} mx="auto">
      <div>
        <BackLink to="/uploads">{t`Uploads`}</BackLink>
        <Group justify="space-between" mt={4} gap="4px 10px" align="flex-start">
          <Title order={1} size="h2" flex="1 1 260px" miw={0} style={{ overflowWrap: "anywhere" }}>
            {upload.title}
          </Title>
          <div role="status" style={{ marginTop: 4 }}>
            <StateBadge upload={upload} size="lg" />
          </div>
        </Group>
      </div>
      <ConversionProgress upload={upload} />
      <State upload={upload} />
    </Stack>
  );
}

/** How the start time is known. */
const startSources = {
  container: msg`The start time comes from the file.`,
  name: msg`The start time comes from the file's name.`,
  modified: msg`The start time is estimated from the time of the file's last change.`,
  user: null,
} as const;

/** What the server has found in the file of an upload in review. */
function ImportedFile({ upload }: { upload: UploadBody }) {
  const { t } = useLingui();
  const { data } = useQuery(uploadedFileQuery(upload));
  if (!data) return null;
  const source = data.start === null ? null : startSources[data.start.from];
  return (
    <>
      {source === null ? null : <Text c="dimmed">{t(source)}</Text>}
      <AudioTracks upload={data} />
      <ChatNotes upload={data} />
    </>
  );
}

function State({ upload }: { upload: UploadBody }) {
  const { t } = useLingui();
  const { status, auto_promote } = upload;
  if (status === "staged" && !auto_promote && upload.media?.status === "media_expired")
    return (
      <EmptyState
        title={t`Upload expired`}
        icon={<IconAlertTriangle size={30} stroke={1.5} />}
        action={<UploadAgain />}
      >
        <Trans>The time to review this upload has run out. Upload the file again.</Trans>
      </EmptyState>
    );
  if (status === "awaiting" || (status === "staged" && !auto_promote))
    return (
      <>
        {status === "awaiting" ? (
          <Text c="dimmed">
            <Trans>
              The file is not uploaded yet. See <Link to="/uploads">Uploads</Link> for progress. You can edit
              the details meanwhile.
            </Trans>
          </Text>
        ) : null}
        <ImportedFile upload={upload} />
        <ReviewForm key={upload.id} upload={upload} />
        <TranscriptFile upload={upload} />
        <TranscriptPreview upload={upload} />
      </>
    );
  if (status === "success")
    return (
      <EmptyState
        title={t`Recording ready`}
        icon={<IconCircleCheck size={30} stroke={1.5} />}
        action={
          upload.recording_id === null ? null : (
            <Button component={Link} to={recordingUrl(upload.recording_id)}>
              <Trans>Open recording</Trans>
            </Button>
          )
        }
      >
        <Trans>Your upload is now a recording.</Trans>
      </EmptyState>
    );
  if (status === "failure")
    return (
      <EmptyState
        title={t`Processing failed`}
        icon={<IconAlertTriangle size={30} stroke={1.5} />}
        action={<UploadAgain />}
      >
        <Text c="var(--mantine-color-error)">{upload.failure?.reason}</Text>
        {adviceFor(upload)}
      </EmptyState>
    );
  return (
    <EmptyState title={stateOf(upload)} icon={<Loader size={28} aria-hidden />}>
      {status === "processing"
        ? t`The file is uploaded and is being checked. This page updates automatically.`
        : t`The recording is being created. This page updates automatically.`}
    </EmptyState>
  );
}

function UploadAgain() {
  return (
    <Button component={Link} to="/uploads" leftSection={<IconFileUpload size={18} />}>
      <Trans>Upload again</Trans>
    </Button>
  );
}
