import { Trans } from "@lingui/react/macro";
import { Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { mediaQuery, type Transcript } from "../api/recording/recording.ts";
import { lazyPart } from "../common/load-part.tsx";
import { ErrorState } from "../common/states.tsx";
import classes from "../player/player.module.css";
import { Player } from "../player/player.tsx";
import { useRecording } from "./context.ts";
import { useWords } from "./use-words.ts";

const EndsEarly = lazyPart(async () => (await import("./ends-early.tsx")).EndsEarly, null);

/** The player of the recording page. Fetches the media URLs. */
export function RecordingPlayer({ transcript }: { transcript: Transcript | undefined }) {
  const { id, view, playback } = useRecording();
  // A link to a moment shows its frame, not the picture of the whole recording.
  const [hasPoster] = useState(() => playback.getState().timeMs === 0);
  const words = useWords(id, transcript);
  const client = useQueryClient();
  const { queryKey } = mediaQuery(id);
  const media = useQuery(mediaQuery(id));
  if (media.isError && media.data === undefined)
    return <ErrorState error={media.error} retry={() => media.refetch()} />;
  if (media.data?.media === null)
    return (
      <div className={classes.message} role="alert">
        <IconAlertTriangle size={28} stroke={1.5} aria-hidden />
        <Text fw={600}>
          <Trans>Recording file missing</Trans>
        </Text>
        <Text size="sm">
          <Trans>
            The transcript and all other data are still available. Contact your server's administrator.
          </Trans>
        </Text>
      </div>
    );
  const endsEarly = view.media?.ends_early ?? null;
  return (
    <>
      {endsEarly === null ? null : (
        <EndsEarly keptMs={view.recording.duration_ms} expectedMs={endsEarly.expected_ms} />
      )}
      <Player
        source={{
          isVideo: view.media?.content_type === "video/mp4",
          src: media.data?.media?.url,
          poster: hasPoster ? view.recording.thumbnail_url : null,
          storyboard: media.data?.storyboard ?? null,
          waveformUrl: media.data?.waveform_url ?? null,
        }}
        transcript={transcript}
        words={words}
        refreshSource={async () => {
          await client.refetchQueries({ queryKey });
          return client.getQueryData(queryKey)?.media?.url;
        }}
      />
    </>
  );
}
