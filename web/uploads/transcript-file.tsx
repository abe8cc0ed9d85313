import { Button, FileButton, Group, Paper, Text, Title } from "@mantine/core";
import { IconFileText } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { saveUpload, type UploadBody, uploadQuery } from "../api/uploads.ts";
import { checkFile } from "./check-file.ts";

/** Why a file is not taken, in words for the person who chose it. */
class FileFault extends Error {}

/** Gives an upload that is being reviewed its transcript, from a file. */
export function TranscriptFile({ upload }: { upload: UploadBody }) {
  const queryClient = useQueryClient();
  const add = useMutation({
    mutationFn: async (file: File) => {
      const verdict = await checkFile(file);
      if (verdict.kind === "refused") throw new FileFault(`${verdict.reason} ${verdict.advice}`);
      if (verdict.kind !== "transcript")
        throw new FileFault("This file holds sound or pictures, and no transcript.");
      return saveUpload(upload.id, { transcript: verdict.transcript });
    },
    onSuccess: (answer) => queryClient.setQueryData(uploadQuery(upload.id).queryKey, answer),
  });
  if (upload.media_type === "transcript") return null;
  const lines = upload.attributes?.transcript?.segments.length ?? 0;
  return (
    <Paper withBorder radius="lg" p="md">
      <Group justify="space-between" gap="sm">
        <div style={{ flex: "1 1 20rem" }}>
          <Title order={2} size="h4">
            {lines > 0 ? "Its words come from a file" : "Is there a transcript already?"}
          </Title>
          <Text size="sm" c="dimmed">
            WebVTT, SubRip, or text or JSON as Parley writes it. Who speaks can then be said above, beside
            each participant.
          </Text>
        </div>
        <FileButton
          accept=".vtt,.srt,.txt,.json"
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
              {lines > 0 ? "Choose another file" : "Add a transcript"}
            </Button>
          )}
        </FileButton>
      </Group>
      {add.isError ? (
        <Text role="alert" size="sm" c="var(--mantine-color-error)" mt="sm">
          {add.error.message}
        </Text>
      ) : null}
    </Paper>
  );
}
