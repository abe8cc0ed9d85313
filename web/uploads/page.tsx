import { Anchor, Stack, Switch, Text, Title } from "@mantine/core";
import { Dropzone } from "@mantine/dropzone";
import "@mantine/dropzone/styles.css";
import { useLocalStorage } from "@mantine/hooks";
import { IconCloudUpload } from "@tabler/icons-react";
import { getRouteApi } from "@tanstack/react-router";
import { PageStack } from "../common/page-stack.tsx";
import { useTitle } from "../common/use-title.ts";
import { useSender, useSendings } from "./sending.tsx";
import { SendingRow } from "./sending-row.tsx";
import { UploadList } from "./upload-list.tsx";
import classes from "./uploads.module.css";

const signedIn = getRouteApi("/signed-in");

/** Where files are sent, and what has become of those sent before. */
export function UploadsPage() {
  useTitle("Uploads");
  const { session } = signedIn.useRouteContext();
  const sender = useSender();
  const sendings = useSendings();
  const [willBeReviewed, setReview] = useLocalStorage({
    key: "parley-review-uploads",
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  const add = (files: readonly File[]) => sender.add(files, { willBeReviewed });
  return (
    <PageStack gap="lg">
      <Title order={1} size="h2">
        Uploads
      </Title>
      <Stack gap="xs">
        <Dropzone
          onDrop={add}
          className={classes.drop ?? ""}
          role="group"
          aria-label="Files to upload"
          inputProps={{ "aria-label": "Choose files to upload" }}
          activateOnKeyboard={false}
          tabIndex={-1}
        >
          <Stack align="center" gap={4} ta="center">
            <IconCloudUpload size={40} stroke={1.3} aria-hidden className={classes.dropIcon ?? ""} />
            <Text fw={600} size="lg">
              Drop files here, or{" "}
              <Anchor component="button" type="button" inherit>
                choose files
              </Anchor>
            </Text>
            <Text size="sm" c="dimmed" maw={560}>
              Video as .mp4, audio as .mp3, transcripts as .vtt, .srt, .json or .txt with “Name: what they
              say” on each line; .mov, .m4a and what else needs it is converted. At least 10 seconds, at most
              4.3 GB. Files are looked at before anything is sent.
            </Text>
          </Stack>
        </Dropzone>
        <Switch
          label="Let me review each upload before it becomes a recording"
          checked={willBeReviewed}
          onChange={(event) => setReview(event.currentTarget.checked)}
        />
      </Stack>
      {sendings.length === 0 ? null : (
        <section aria-label="On their way">
          <Title order={2} size="h4" mb="xs">
            On their way
          </Title>
          <ul className={classes.list}>
            {sendings.map((sending) => (
              <li key={sending.key}>
                <SendingRow sending={sending} sender={sender} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <UploadList userId={session.user.id} sendings={sendings} onChoose={add} />
    </PageStack>
  );
}
