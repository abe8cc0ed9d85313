import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Paper, Text, Title } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ImportBody, saveImportNotes, uploadedFileQuery } from "../../api/uploads.ts";
import classes from "../uploads.module.css";

/** Shows the chat that becomes the user's notes, which can be left out. */
export function ChatNotes({ upload }: { upload: ImportBody }) {
  const { t } = useLingui();
  const queryClient = useQueryClient();
  const remove = useMutation({
    mutationFn: () => saveImportNotes(upload.id, null),
    onSuccess: (saved) => queryClient.setQueryData(uploadedFileQuery(upload).queryKey, saved),
  });
  if (upload.notes === null) return null;
  return (
    <Paper withBorder radius="lg" p="md" component="section" aria-label={t`Chat from file`}>
      <Group justify="space-between" gap="sm">
        <div style={{ flex: "1 1 20rem" }}>
          <Title order={2} size="h4">
            <Trans>Chat from file</Trans>
          </Title>
          <Text size="sm" c="dimmed">
            <Trans>The chat becomes your private notes on the recording. Only you can read them.</Trans>
          </Text>
        </div>
        <Button variant="light" loading={remove.isPending} onClick={() => remove.mutate()}>
          <Trans>Remove chat</Trans>
        </Button>
      </Group>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls with the keyboard. */}
      <pre className={classes.chat} tabIndex={0}>
        {upload.notes}
      </pre>
      {remove.isError ? (
        <Text role="alert" size="sm" c="var(--mantine-color-error)" mt="sm">
          {remove.error.message}
        </Text>
      ) : null}
    </Paper>
  );
}
