import { Trans, useLingui } from "@lingui/react/macro";
import { Skeleton, Stack, Text, VisuallyHidden } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { type RefObject, useRef } from "react";
import type { Transcript } from "../api/recording/recording.ts";
import { ErrorState } from "../common/states.tsx";
import { FindBar } from "../transcript/find-bar.tsx";
import { type LineTools, type ListHandle, TranscriptList } from "../transcript/list.tsx";
import classes from "../transcript/transcript.module.css";
import { useFind } from "../transcript/use-find.ts";
import own from "./public-link.module.css";

/** Viewers of a link can read, search and copy. */
const readOnly: LineTools = { clip: null, speaker: null, Editor: null, unsaved: null };

export type TranscriptResult = Pick<UseQueryResult<Transcript>, "data" | "error" | "refetch">;

/** The transcript of a link's item. */
export function TranscriptPanel(props: {
  transcript: TranscriptResult;
  findField: RefObject<HTMLInputElement | null>;
}) {
  const { t } = useLingui();
  const { data, error, refetch } = props.transcript;
  return (
    <section className={classes.pane} aria-label={t`Transcript`}>
      {data !== undefined ? (
        <Lines transcript={data} findField={props.findField} />
      ) : error ? (
        <ErrorState error={error} retry={() => refetch()} />
      ) : (
        <Stack p="md" gap="lg" aria-busy="true">
          <VisuallyHidden role="status">
            <Trans>Loading transcript</Trans>
          </VisuallyHidden>
          {[90, 70, 96, 60].map((width) => (
            <Skeleton key={width} height={14} width={`${width}%`} />
          ))}
        </Stack>
      )}
    </section>
  );
}

function Lines(props: { transcript: Transcript; findField: RefObject<HTMLInputElement | null> }) {
  const { transcript, findField } = props;
  const handle = useRef<ListHandle>(null);
  const finding = useFind(
    transcript.segments,
    () => handle.current?.firstShown() ?? 0,
    (index) => handle.current?.show(index),
  );
  if (transcript.segments.length === 0)
    return (
      <Text c="dimmed" className={own.nothingSaid ?? ""}>
        <Trans>No speech.</Trans>
      </Text>
    );
  return (
    <>
      <div className={classes.bar}>
        <FindBar finding={finding} field={findField} />
      </div>
      <TranscriptList
        transcript={transcript}
        words={null}
        finding={finding}
        handle={handle}
        tools={readOnly}
      />
    </>
  );
}
