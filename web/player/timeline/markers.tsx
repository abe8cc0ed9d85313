import { plural } from "@lingui/core/macro";
import { Tooltip } from "@mantine/core";
import { withoutMarks } from "../../../shared/markdown/read.ts";
import { clock } from "../../common/format/time.ts";
import { type CommentMark, usePlayerContext } from "../context.ts";
import classes from "../player.module.css";
import { span } from "../span.ts";

const maxCommentMarkers = 150;

/** Most characters of a comment that its marker shows. */
const maxShown = 120;

/** A marker above the seek bar for each chapter, highlight and comment. */
export function Markers({ durationMs }: { durationMs: number }) {
  const { markers, chapters, comments, playback } = usePlayerContext();
  // Comments that would cover each other share a marker.
  const near = Map.groupBy(comments?.marks ?? [], ({ timestamp }) =>
    Math.floor((timestamp / durationMs) * maxCommentMarkers),
  );
  const all = [
    ...chapters.map(({ title, start }) => ({
      kind: "chapter",
      ...{ text: title, start, end: start, onClick: () => playback.seek(start) },
    })),
    ...markers.map(({ text, timestamp: start, duration }) => ({
      kind: "highlight",
      ...{ text, start, end: start + duration },
      onClick: () => playback.playClip({ text, startMs: start, endMs: start + duration }),
    })),
    ...[...near.values()].flatMap(([first, ...others]) =>
      first === undefined
        ? []
        : {
            kind: "comment",
            text:
              others.length === 0
                ? shownText(first)
                : plural({ count: others.length + 1 }, { one: "# comment", other: "# comments" }),
            ...{ start: first.timestamp, end: first.timestamp },
            onClick: () => {
              playback.seek(first.timestamp);
              comments?.open(first.id);
            },
          },
    ),
  ];
  return (
    <div className={classes.markers} aria-hidden>
      {all.map(({ kind, text, start, end, onClick }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: highlights may be equal.
        <Tooltip key={i} withinPortal={false} label={`${clock(start)} · ${text}`} multiline maw={280}>
          {/* biome-ignore lint/a11y/noStaticElementInteractions lint/a11y/useKeyWithClickEvents: too small for keyboard focus; the lists of chapters, highlights and comments do the same. */}
          <span
            className={classes.marker}
            style={span(start, end, durationMs)}
            data-marker={kind}
            onClick={onClick}
          />
        </Tooltip>
      ))}
    </div>
  );
}

function shownText({ author, text }: CommentMark): string {
  const shown = withoutMarks(text).slice(0, maxShown);
  return author === null ? shown : `${author}: ${shown}`;
}
