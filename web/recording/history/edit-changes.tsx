import { Button, Loader, Text, VisuallyHidden } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { Segment } from "../../api/recording.ts";
import { type EditChange, editQuery } from "../../api/transcript-history.ts";
import { errorText } from "../../common/actions.tsx";
import { clock } from "../../common/time.ts";
import { useRecording } from "../context.ts";
import { differenceOf, linesOf } from "./edit-words.ts";
import classes from "./history.module.css";

/** More than this is told by its number. */
const mostShown = 20;

/** What one edit changed, from what to what, each with the way to its place. */
export function EditChanges(props: {
  number: number;
  segments: readonly Segment[];
  onGo: (segment: Segment) => void;
}) {
  const { number, segments, onGo } = props;
  const { id } = useRecording();
  const { data, error, isPending } = useQuery(editQuery(id, number));
  if (isPending) return <Loader size="sm" my="xs" role="img" aria-label="Loading what changed" />;
  if (data === undefined)
    return (
      <Text size="sm" c="var(--mantine-color-error)" role="alert">
        {errorText(error)}
      </Text>
    );
  const hidden = data.changes.length - mostShown;
  return (
    <ul className={classes.changes}>
      {data.changes.slice(0, mostShown).map((change) => (
        <li key={change.indexes[0]}>
          <Place change={change} segments={segments} onGo={onGo} />
          <Change change={change} />
        </li>
      ))}
      {hidden > 0 ? <li>and {hidden.toLocaleString()} more places</li> : null}
      {data.changes.length === 0 ? <li>Names of people alone; no line of the transcript.</li> : null}
    </ul>
  );
}

function Place(props: {
  change: EditChange;
  segments: readonly Segment[];
  onGo: (segment: Segment) => void;
}) {
  const { indexes } = props.change;
  const segment = props.segments[indexes[0] ?? -1];
  if (segment === undefined) return null;
  const more = indexes.length - 1;
  return (
    <span className={classes.place}>
      <Button
        size="compact-xs"
        variant="subtle"
        onClick={() => props.onGo(segment)}
        aria-label={`${clock(segment.start)}, go there`}
        style={{ fontVariantNumeric: "tabular-nums" }}
      >
        {clock(segment.start)}
      </Button>
      {more > 0 ? (
        <Text span size="xs" c="dimmed">
          and {linesOf(more)} more
        </Text>
      ) : null}
    </span>
  );
}

function Change({ change: { before, after } }: { change: EditChange }) {
  if (before.text === undefined || after.text === undefined)
    return (
      <span dir="auto">
        <VisuallyHidden>Before: </VisuallyHidden>
        <del>{before.speaker ?? "nobody known"}</del> <VisuallyHidden>After: </VisuallyHidden>
        <ins>{after.speaker ?? "nobody known"}</ins>
      </span>
    );
  const { start, before: old, after: fresh, end } = differenceOf(before.text, after.text);
  return (
    <span dir="auto" className={classes.text}>
      {start}
      {old === "" ? null : (
        <>
          <VisuallyHidden>Before: </VisuallyHidden>
          <del>{old}</del>
        </>
      )}
      {fresh === "" ? null : (
        <>
          <VisuallyHidden>After: </VisuallyHidden>
          <ins>{fresh}</ins>
        </>
      )}
      {end}
    </span>
  );
}
