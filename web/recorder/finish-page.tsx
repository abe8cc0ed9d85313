import { t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Center, Loader, Progress, Stack, Text, Title } from "@mantine/core";
import { IconAlertTriangle, IconFileUpload } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useSyncExternalStore } from "react";
import { importQuery } from "../api/uploads.ts";
import { bytes } from "../common/format/bytes.ts";
import { EmptyState, ErrorState } from "../common/states.tsx";
import { useTitle } from "../common/use-title.ts";
import { type TransferState, transfers } from "./outbox/transfers.ts";

const page = getRouteApi("/signed-in/record/$uploadId");

/** A recording made in the browser on its way to its own page, which opens as soon as it exists. */
export function FinishPage() {
  const { t } = useLingui();
  const { uploadId } = page.useParams();
  const navigate = useNavigate();
  const query = useQuery(importQuery(uploadId));
  const transfer = useSyncExternalStore(transfers.subscribe, transfers.list).find(
    (one) => one.uploadId === uploadId,
  );
  useTitle(query.data?.title);
  const recordingId = query.data?.recording_id ?? null;
  useEffect(() => {
    if (recordingId !== null)
      void navigate({ to: "/recordings/$recordingId", params: { recordingId }, replace: true });
  }, [recordingId, navigate]);
  if (query.isError && query.data === undefined)
    return <ErrorState error={query.error} retry={() => query.refetch()} />;
  if (query.data?.failure)
    return (
      <EmptyState
        title={t`Processing failed`}
        icon={<IconAlertTriangle size={30} stroke={1.5} />}
        action={
          <Button component={Link} to="/uploads" leftSection={<IconFileUpload size={18} />}>
            <Trans>Open uploads</Trans>
          </Button>
        }
      >
        <Text c="var(--mantine-color-error)">{query.data.failure.reason}</Text>
      </EmptyState>
    );
  const { text, share } = stepOf(query.data?.status, transfer);
  return (
    <Center mih={320} p="lg">
      <Stack gap="sm" w="min(460px, 100%)" ta="center">
        <Title order={1} size="h2" style={{ overflowWrap: "anywhere" }}>
          {query.data?.title ?? transfer?.title ?? t({ context: "noun", message: "Recording" })}
        </Title>
        {share === null ? (
          <Center>
            <Loader size={28} aria-hidden />
          </Center>
        ) : (
          <Progress value={share * 100} aria-label={t`Uploaded`} size="lg" radius="xl" />
        )}
        <Text role="status">{text}</Text>
        <Text size="sm" c="dimmed">
          {transfer === undefined
            ? t`The recording opens here as soon as it is ready. You can leave this page.`
            : t`Keep this window open until the upload is complete.`}
        </Text>
      </Stack>
    </Center>
  );
}

function stepOf(
  status: string | undefined,
  transfer: TransferState | undefined,
): { text: string; share: number | null } {
  if (status === "processing" || status === "staged")
    return { text: t`The recording is uploaded and is being checked.`, share: null };
  if (status === "promoting" || status === "success")
    return { text: t`The recording is being prepared.`, share: null };
  if (transfer === undefined) return { text: t`Waiting for the upload.`, share: null };
  if (transfer.status === "failed")
    return { text: transfer.reason?.() ?? t`The upload failed.`, share: null };
  const share = transfer.total === 0 ? 0 : transfer.sent / transfer.total;
  const [sent, total] = [bytes(transfer.sent), bytes(transfer.total)];
  const text = transfer.isOffline
    ? t`No connection. ${sent} of ${total} uploaded.`
    : t`${sent} of ${total} uploaded.`;
  return { text, share };
}
