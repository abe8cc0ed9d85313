import { msg } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { IconBraces, IconFileText, IconMovie, IconPrinter } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { withoutExtension } from "../../shared/files/download-name.ts";
import { ApiError } from "../api/client/api-error.ts";
import { mediaQuery, transcriptQuery } from "../api/recording/recording.ts";
import { fileName } from "../common/format/file-name.ts";
import { follow, saveAs } from "../common/save-as.ts";
import { useRecording } from "./context.ts";

const formats = {
  txt: msg`Download as text`,
  vtt: msg`Download as WebVTT`,
  srt: msg`Download as SubRip`,
} as const;

/** Menu items that download parts of a recording, or open the dialog for documents. */
export function DownloadItems({ onDocument }: { onDocument: () => void }) {
  const { t } = useLingui();
  const { id, view, actions, hasMedia } = useRecording();
  const client = useQueryClient();
  const hasTranscript = view.transcript.segments > 0;
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      notifications.show({
        color: "red",
        title: t`Couldn't download`,
        message: error instanceof ApiError ? error.message : t`Something went wrong.`,
      });
    }
  };
  const format = view.media?.content_type === "video/mp4" ? "mp4" : "mp3";
  const name = fileName(withoutExtension(view.recording.title, format));
  const saveText = (form: keyof typeof formats) =>
    attempt(async () => saveAs(new Blob([String(await actions.transcriptAs(form))]), `${name}.${form}`));
  const saveJson = () =>
    attempt(async () => {
      const transcript = await client.fetchQuery(transcriptQuery(id));
      const entries = transcript.segments.map(({ participant_id, speaker, start, end, text }) => ({
        participant_id,
        speaker,
        start,
        end,
        text,
      }));
      saveAs(new Blob([JSON.stringify(entries, null, 2)], { type: "application/json" }), `${name}.json`);
    });
  const saveMedia = () =>
    attempt(async () => {
      // A fresh URL: the one that plays may have expired.
      const media = await client.fetchQuery({ ...mediaQuery(id), staleTime: 60_000 });
      if (media.media !== null) follow(media.media.url, `${name}.${format}`);
    });
  return (
    <>
      {hasMedia ? (
        <Menu.Item leftSection={<IconMovie size={18} stroke={1.6} />} onClick={saveMedia}>
          {format === "mp4" ? t`Download video` : t`Download audio`}
        </Menu.Item>
      ) : null}
      {(Object.keys(formats) as (keyof typeof formats)[]).map((form) => (
        <Menu.Item
          key={form}
          disabled={!hasTranscript}
          leftSection={<IconFileText size={18} stroke={1.6} />}
          onClick={() => saveText(form)}
        >
          {t(formats[form])}
        </Menu.Item>
      ))}
      <Menu.Item
        disabled={!hasTranscript}
        leftSection={<IconBraces size={18} stroke={1.6} />}
        onClick={saveJson}
      >
        <Trans>Download as JSON</Trans>
      </Menu.Item>
      <Menu.Item leftSection={<IconPrinter size={18} stroke={1.6} />} onClick={onDocument}>
        <Trans>Word document or PDF</Trans>
      </Menu.Item>
    </>
  );
}
