import { useLingui } from "@lingui/react/macro";
import { useRouter } from "@tanstack/react-router";
import type { MouseEvent } from "react";
import type { RecordingBody } from "../api/directory.ts";
import { namesInLine } from "../common/format/names.ts";
import { dayAndTime, fullTime } from "../common/format/time.ts";
import rows from "../common/lists/rows.module.css";
import { mediaTypes } from "../common/media-types.ts";
import { recordingUrl } from "../common/recording-url.ts";
import classes from "./library.module.css";

/**
 * The title as the link to the recording. Not the router's Link, which follows every change of the URL and takes longer to
 * mount than the rest of a row.
 */
export function TitleLink({ recording }: { recording: RecordingBody }) {
  const router = useRouter();
  const target = {
    to: "/recordings/$recordingId",
    params: { recordingId: recording.id },
  } as const;
  const preload = () => void router.preloadRoute(target);
  const open = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void router.navigate(target);
  };
  return (
    <a
      href={recordingUrl(recording.id)}
      className={rows.title}
      onClick={open}
      onMouseEnter={preload}
      onFocus={preload}
    >
      {recording.title}
    </a>
  );
}

/** Start time, media type and participants. */
export function Facts({ recording }: { recording: RecordingBody }) {
  const { t } = useLingui();
  const people = (recording.participants ?? []).map(({ name }) => name);
  return (
    <div className={classes.facts}>
      <time dateTime={recording.start_datetime} title={fullTime(recording.start_datetime)}>
        {dayAndTime(recording.start_datetime)}
      </time>
      <span>{t(mediaTypes[recording.media_type])}</span>
      {people.length === 0 ? null : (
        <span title={namesInLine(people, people.length)} className={classes.people ?? ""}>
          {namesInLine(people)}
        </span>
      )}
    </div>
  );
}

/** Its meeting type and tags. */
export function Badges({ recording }: { recording: RecordingBody }) {
  const tags = recording.tags.slice(0, 4);
  const more = recording.tags.length - tags.length;
  if (recording.meeting_type === null && tags.length === 0) return <div className={classes.badges} />;
  return (
    <div className={classes.badges}>
      {recording.meeting_type === null ? null : (
        <span className={`${classes.badge} ${classes.type}`}>{recording.meeting_type.name}</span>
      )}
      {tags.map((tag) => (
        <span key={tag} className={classes.badge}>
          {tag}
        </span>
      ))}
      {more > 0 ? (
        <span className={classes.badge} title={namesInLine(recording.tags, recording.tags.length)}>
          +{more}
        </span>
      ) : null}
    </div>
  );
}
