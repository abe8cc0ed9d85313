import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Text, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPencil } from "@tabler/icons-react";
import { lazyPart } from "../../common/load-part.tsx";
import { useRecording } from "../context.ts";
import { MomentButton } from "./moment-button.tsx";
import classes from "./panels.module.css";

const ChaptersDialog = lazyPart(async () => (await import("./chapters-dialog.tsx")).ChaptersDialog, null);

/** The chapters of the recording, for users who can edit the transcript also where there are none. */
export function Chapters() {
  const { t } = useLingui();
  const { chapters, can } = useRecording().view;
  const [isOpen, dialog] = useDisclosure();
  if (chapters.length === 0 && !can.edit_transcript) return null;
  return (
    <section>
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          <Trans>Chapters</Trans>
        </Title>
        {can.edit_transcript ? (
          <Button
            size="compact-sm"
            variant="subtle"
            leftSection={<IconPencil size={16} stroke={1.6} aria-hidden />}
            onClick={dialog.open}
          >
            {chapters.length === 0 ? t`Add chapters` : t`Edit chapters`}
          </Button>
        ) : null}
      </Group>
      {chapters.length === 0 ? (
        <Text size="sm" c="dimmed">
          <Trans>No chapters yet</Trans>
        </Text>
      ) : (
        <ol className={classes.plainList}>
          {chapters.map(({ title, start, quote }) => (
            <li key={start}>
              <Group gap="xs" wrap="nowrap" align="flex-start">
                <MomentButton ms={start} />
                <span dir="auto" title={quote === "" ? undefined : t`“${quote}”`}>
                  {title}
                </span>
              </Group>
            </li>
          ))}
        </ol>
      )}
      {isOpen ? <ChaptersDialog onClose={dialog.close} /> : null}
    </section>
  );
}
