import { plural } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { Paper, Radio, Stack, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { chooseAudioTracks, type ImportBody, uploadedFileQuery } from "../../api/uploads.ts";
import { namesInLine } from "../../common/format/names.ts";

/** While this is saved, the upload can't be published. */
export const audioTracksKey = ["audio-tracks"];

/** Asks what becomes of several audio tracks. */
export function AudioTracks({ upload }: { upload: ImportBody }) {
  const { t } = useLingui();
  const queryClient = useQueryClient();
  const [chosen, setChosen] = useState<"mix" | "speakers" | null>(null);
  const choose = useMutation({
    mutationKey: audioTracksKey,
    mutationFn: (choice: "mix" | "speakers") => chooseAudioTracks(upload.id, choice),
    onError: () => setChosen(null),
    onSuccess: (saved) => queryClient.setQueryData(uploadedFileQuery(upload).queryKey, saved),
  });
  if (upload.audio_tracks === null) return null;
  const { tracks } = upload.audio_tracks;
  const choice = chosen ?? upload.audio_tracks.choice;
  const names = tracks.map(({ title }, index) => {
    const number = index + 1;
    return title || t`Track ${number}`;
  });
  return (
    <Paper withBorder radius="lg" p="md">
      <Radio.Group
        label={plural(tracks.length, {
          one: "This file has # audio track",
          other: "This file has # audio tracks",
        })}
        description={namesInLine(names, names.length)}
        // Undecided tracks are mixed.
        value={choice === "speakers" ? "speakers" : "mix"}
        onChange={(value) => {
          const next = value === "speakers" ? "speakers" : "mix";
          setChosen(next);
          choose.mutate(next);
        }}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="mix" label={t`Mix them`} disabled={choose.isPending} />
          <Radio
            value="speakers"
            label={t`One speaker per track`}
            description={t`The tracks are mixed for playback, and each is transcribed as one speaker.`}
            disabled={choose.isPending || tracks.length > 8}
          />
        </Stack>
      </Radio.Group>
      {choose.isError ? (
        <Text role="alert" size="sm" c="var(--mantine-color-error)" mt="sm">
          {choose.error.message}
        </Text>
      ) : null}
    </Paper>
  );
}
