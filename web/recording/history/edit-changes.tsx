import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Button, Loader, Text, VisuallyHidden } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Segment } from "../../api/recording/recording.ts";
import { type EditChange, editQuery } from "../../api/recording/transcript-history.ts";
import { errorText } from "../../common/actions.tsx";
import { clock } from "../../common/format/time.ts";
import { useRecording } from "../context.ts";
import { differenceOf } from "./describe-edit.ts";
import classes from "./history.module.css";

/** Further changes are only counted. */
const maxShown = 20;

/** The lines one edit changed, before and after, each with a link to its position. */
export function EditChanges(props: {
  number: number;
  segments: readonly Segment[];
  onGo: (segment: Segment) => void;
}) {
  const { t } = useLingui();
  const { number, segments, onGo } = props;
  const { id } = useRecording();
  const { data, error, isPending } = useQuery(editQuery(id, number));
  if (isPending) return <Loader size="sm" my="xs" role="img" aria-label={t`Loading changes`} />;
  if (data === undefined)
    return (
      <Text size="sm" c="var(--mantine-color-error)" role="alert">
        {errorText(error)}
      </Text>
    );
  const hidden = data.changes.length - maxShown;
  return (
    <ul className={classes.changes}>
      {data.changes.slice(0, maxShown).map((change) => (
        <li key={change.indexes[0]}>
          <ChangedLines change={change} segments={segments} onGo={onGo} />
          <Change change={change} />
        </li>
      ))}
      {hidden > 0 ? (
        <li>
          <Plural value={hidden} one="and # more change" other="and # more changes" />
        </li>
      ) : null}
      {data.changes.length === 0 ? (
        <li>
          <Trans>Only participant names changed, no transcript lines.</Trans>
        </li>
      ) : null}
    </ul>
  );
}

function ChangedLines(props: {
  change: EditChange;
  segments: readonly Segment[];
  onGo: (segment: Segment) => void;
}) {
  const { t } = useLingui();
  const { indexes } = props.change;
  const segment = props.segments[indexes[0] ?? -1];
  if (segment === undefined) return null;
  const more = indexes.length - 1;
  return (
    <span className={classes.position}>
      <Button
        size="compact-xs"
        variant="subtle"
        onClick={() => props.onGo(segment)}
        aria-label={t`${{ time: clock(segment.start) }}, go to this moment`}
        style={{ fontVariantNumeric: "tabular-nums" }}
      >
        {clock(segment.start)}
      </Button>
      {more > 0 ? (
        <Text span size="xs" c="dimmed">
          <Plural value={more} one="and # more line" other="and # more lines" />
        </Text>
      ) : null}
    </span>
  );
}

function Change({ change: { before, after } }: { change: EditChange }) {
  const { t } = useLingui();
  if (before.text === undefined || after.text === undefined)
    return (
      <span dir="auto">
        <VisuallyHidden>
          <Trans>Before:</Trans>{" "}
        </VisuallyHidden>
        <del>{before.speaker ?? t`unknown speaker`}</del>{" "}
        <VisuallyHidden>
          <Trans>After:</Trans>{" "}
        </VisuallyHidden>
        <ins>{after.speaker ?? t`unknown speaker`}</ins>
      </span>
    );
  const { start, before: removed, after: added, end } = differenceOf(before.text, after.text);
  return (
    <span dir="auto" className={classes.text}>
      {start}
      {removed === "" ? null : (
        <>
          <VisuallyHidden>
            <Trans>Before:</Trans>{" "}
          </VisuallyHidden>
          <del>{removed}</del>
        </>
      )}
      {added === "" ? null : (
        <>
          <VisuallyHidden>
            <Trans>After:</Trans>{" "}
          </VisuallyHidden>
          <ins>{added}</ins>
        </>
      )}
      {end}
    </span>
  );
}
