import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Button, Paper, Text, Title } from "@mantine/core";
import { useState } from "react";
import type { UploadBody } from "../../api/uploads.ts";
import { clock } from "../../common/format/time.ts";
import classes from "../uploads.module.css";

const step = 100;

/** An upload's transcript, with participants' names for speaker keys. */
export function TranscriptPreview({ upload }: { upload: UploadBody }) {
  const { t } = useLingui();
  const [shown, setShown] = useState(step);
  const transcript = upload.attributes?.transcript;
  if (transcript === undefined) return null;
  const names = new Map([
    ...transcript.anonymous_speakers.map(({ speaker_key, name }) => [speaker_key, name] as const),
    ...(upload.attributes?.participants ?? []).map(
      ({ speaker_key, name, email }) => [speaker_key ?? "", name ?? email ?? ""] as const,
    ),
  ]);
  const left = transcript.segments.length - shown;
  return (
    <Paper withBorder radius="lg" p="md">
      <Title order={2} size="h4" mb="xs">
        <Trans>Transcript</Trans>
      </Title>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard. */}
      <section className={classes.transcript} tabIndex={0} aria-label={t`Transcript`}>
        {transcript.segments.slice(0, shown).map((segment, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: segments have no other identity, and the order never changes.
          <div key={index}>
            <Text size="sm" c="dimmed">
              {clock(segment.start)} · {names.get(segment.speaker_key) || segment.speaker_key}
            </Text>
            <Text>{segment.text}</Text>
          </div>
        ))}
        {left > 0 ? (
          <Button variant="subtle" size="xs" onClick={() => setShown((count) => count + step)}>
            <Plural value={left} one="Show more (# left)" other="Show more (# left)" />
          </Button>
        ) : null}
      </section>
    </Paper>
  );
}
