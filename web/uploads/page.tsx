import { Trans, useLingui } from "@lingui/react/macro";
import { Anchor, Button, Stack, Switch, Text, Title } from "@mantine/core";
import { Dropzone } from "@mantine/dropzone";
import "@mantine/dropzone/styles.css";
import { useLocalStorage } from "@mantine/hooks";
import { IconCloudUpload, IconStack2 } from "@tabler/icons-react";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { LanguageSelect } from "../common/language-select.tsx";
import { PageStack } from "../common/page-frame.tsx";
import { useTitle } from "../common/use-title.ts";
import { LazyJoinDialog } from "./join/lazy-join-dialog.ts";
import { useSender, useUploadTasks } from "./sending/context.tsx";
import { TaskRow } from "./sending/sending-row.tsx";
import { UploadList } from "./upload-list.tsx";
import classes from "./uploads.module.css";

const signedIn = getRouteApi("/signed-in");

/** Uploads files, and lists earlier uploads. */
export function UploadsPage() {
  const { t } = useLingui();
  useTitle(t`Uploads`);
  const { session } = signedIn.useRouteContext();
  const sender = useSender();
  const tasks = useUploadTasks();
  const [willBeReviewed, setReview] = useLocalStorage({
    key: "parley-review-uploads",
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  const [spokenLanguage, setLanguage] = useState("auto");
  const [isJoining, setJoining] = useState(false);
  const options = { willBeReviewed, spokenLanguage };
  const add = (files: readonly File[]) => void sender.add(files, options);
  const join = (files: readonly File[], title: string) => sender.join(files, title, options);
  return (
    <PageStack gap="lg">
      <Title order={1} size="h2">
        <Trans>Uploads</Trans>
      </Title>
      <Stack gap="xs">
        <Dropzone
          onDrop={add}
          className={classes.drop ?? ""}
          role="group"
          aria-label={t`Files to upload`}
          inputProps={{ "aria-label": t`Choose files to upload` }}
          activateOnKeyboard={false}
          tabIndex={-1}
        >
          <Stack align="center" gap={4} ta="center">
            <IconCloudUpload size={40} stroke={1.3} aria-hidden className={classes.dropIcon ?? ""} />
            <Text fw={600} size="lg">
              <Trans>
                Drop files here, or{" "}
                <Anchor component="button" type="button" inherit>
                  choose files
                </Anchor>
              </Trans>
            </Text>
            <Text size="sm" c="dimmed" maw={560}>
              <Trans>
                Any common video or audio file; it is converted if needed. Transcripts as .vtt, .srt, .ttml,
                .sbv, .ass, .json or .txt with “Name: text” on each line; those with the name of a video or
                audio file are added to it. At least 10 seconds, at most 4.3 GB. Files are checked before
                upload.
              </Trans>
            </Text>
          </Stack>
        </Dropzone>
        <Button
          variant="light"
          leftSection={<IconStack2 size={18} aria-hidden />}
          style={{ alignSelf: "flex-start" }}
          onClick={() => setJoining(true)}
        >
          <Trans>Join files into one recording</Trans>
        </Button>
        <LazyJoinDialog isOpen={isJoining} onClose={() => setJoining(false)} onJoin={join} />
        <LanguageSelect
          label={t`Language spoken in the files you add next`}
          automatic={t`From meeting type or workspace`}
          value={spokenLanguage}
          onChange={setLanguage}
        />
        <Switch
          label={t`Review uploads before publishing`}
          checked={willBeReviewed}
          onChange={(event) => setReview(event.currentTarget.checked)}
        />
      </Stack>
      {tasks.length === 0 ? null : (
        <section aria-label={t`In progress`}>
          <Title order={2} size="h4" mb="xs">
            <Trans>In progress</Trans>
          </Title>
          <ul className={classes.list}>
            {tasks.map((sending) => (
              <li key={sending.key}>
                <TaskRow sending={sending} sender={sender} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <UploadList userId={session.user.id} tasks={tasks} onChoose={add} onJoin={join} />
    </PageStack>
  );
}
