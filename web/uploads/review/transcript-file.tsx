import { Trans, useLingui } from "@lingui/react/macro";
import { Button, FileButton, Group, Paper, Text, Title } from "@mantine/core";
import { IconFileText } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { ShownError } from "../../api/client/api-error.ts";
import {
  removeImportTranscript,
  saveUpload,
  type UploadBody,
  uploadedFileQuery,
  uploadQuery,
} from "../../api/uploads.ts";
import { checkFile } from "../file-check/check-file.ts";
import { FileWarnings, transcriptPicker } from "../file-check/file-warnings.tsx";

/** Adds a transcript file to an upload in review. */
export function TranscriptFile({ upload }: { upload: UploadBody }) {
  const { t } = useLingui();
  const queryClient = useQueryClient();
  const add = useMutation({
    mutationFn: async (file: File) => {
      const check = await checkFile(file);
      if (check.kind === "refused") throw new ShownError(() => `${check.reason()} ${check.advice()}`);
      if (check.kind !== "transcript") throw new ShownError(() => t`This is a media file, not a transcript.`);
      return {
        saved: await saveUpload(upload.id, { transcript: check.transcript }),
        warnings: check.warnings,
      };
    },
    onSuccess: ({ saved }) => queryClient.setQueryData(uploadQuery(upload.id).queryKey, saved),
  });
  const imported = useQuery(uploadedFileQuery(upload));
  const remove = useMutation({
    mutationFn: () => removeImportTranscript(upload.id),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: uploadQuery(upload.id).queryKey }),
  });
  if (upload.media_type === "transcript") return null;
  const error = add.error ?? remove.error;
  const lines = upload.attributes?.transcript?.segments.length ?? 0;
  return (
    <Paper withBorder radius="lg" p="md">
      <Group justify="space-between" gap="sm">
        <div style={{ flex: "1 1 20rem" }}>
          <Title order={2} size="h4">
            {lines > 0 ? t`Transcript from file` : t`Already have a transcript?`}
          </Title>
          <Text size="sm" c="dimmed">
            <Trans>
              WebVTT, SubRip, TTML, SBV, SubStation Alpha, Whisper's JSON, or Parley's own text or JSON. Then
              assign its speakers to participants above.
            </Trans>
          </Text>
        </div>
        <FileButton
          accept={transcriptPicker}
          onChange={(file) => {
            if (file !== null) add.mutate(file);
          }}
        >
          {(props) => (
            <Button
              {...props}
              variant="light"
              leftSection={<IconFileText size={18} aria-hidden />}
              loading={add.isPending}
            >
              {lines > 0 ? t`Choose another file` : t`Add transcript`}
            </Button>
          )}
        </FileButton>
        {lines > 0 && imported.data ? (
          <Button variant="subtle" loading={remove.isPending} onClick={() => remove.mutate()}>
            <Trans>Remove transcript</Trans>
          </Button>
        ) : null}
      </Group>
      <FileWarnings texts={(add.data?.warnings ?? []).map((text) => text())} />
      {error === null ? null : (
        <Text role="alert" size="sm" c="var(--mantine-color-error)" mt="sm">
          {error.message}
        </Text>
      )}
    </Paper>
  );
}
