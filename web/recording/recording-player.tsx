import { Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { mediaQuery, type Transcript } from "../api/recording.ts";
import { ErrorState } from "../common/states.tsx";
import { useRecording } from "./context.ts";
import classes from "./player/player.module.css";
import { Player } from "./player/player.tsx";

/** The player of a recording, for people who signed in: it asks for the addresses of the files. */
export function RecordingPlayer({ transcript }: { transcript: Transcript | undefined }) {
  const { id, view } = useRecording();
  const client = useQueryClient();
  const { queryKey } = mediaQuery(id);
  const media = useQuery(mediaQuery(id));
  if (media.isError && media.data === undefined)
    return <ErrorState error={media.error} retry={() => media.refetch()} />;
  if (media.data?.media === null)
    return (
      <div className={classes.message} role="alert">
        <IconAlertTriangle size={28} stroke={1.5} aria-hidden />
        <Text fw={600}>The file of this recording is missing</Text>
        <Text size="sm">Its transcript and everything else are here. Ask whoever runs this server.</Text>
      </div>
    );
  return (
    <Player
      film={{
        isVideo: view.media?.content_type === "video/mp4",
        src: media.data?.media?.url,
        poster: view.recording.thumbnail_url,
        storyboard: media.data?.storyboard ?? null,
        waveformUrl: media.data?.waveform_url ?? null,
      }}
      transcript={transcript}
      renew={async () => {
        await client.refetchQueries({ queryKey });
        return client.getQueryData(queryKey)?.media?.url;
      }}
    />
  );
}
