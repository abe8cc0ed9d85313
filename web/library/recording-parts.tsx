import { Badge } from "@mantine/core";
import { IconFileText, IconVideo, IconVolume } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { RecordingBody } from "../api/recordings.ts";
import { namesInLine } from "../common/format/names.ts";
import { clock, dayAndTime, fullTime, lengthInWords } from "../common/format/time.ts";
import { recordingUrl } from "../common/recording-url.ts";
import classes from "./library.module.css";

const icons = { video: IconVideo, audio: IconVolume, transcript: IconFileText } as const;
const kinds = { video: "Video", audio: "Audio", transcript: "Transcript" } as const;

/** The thumbnail of a recording, or an icon of its media type, with its length. */
export function Picture({ recording }: { recording: RecordingBody }) {
  const [isBroken, setBroken] = useState(false);
  const Icon = icons[recording.media_type];
  return (
    <div className={classes.picture}>
      {recording.thumbnail_url === null || isBroken ? (
        <Icon size={34} stroke={1.3} aria-hidden />
      ) : (
        <img
          src={recording.thumbnail_url}
          alt=""
          loading="lazy"
          decoding="async"
          onError={() => setBroken(true)}
        />
      )}
      <span className={classes.length} role="img" aria-label={lengthInWords(recording.duration_ms)}>
        {clock(recording.duration_ms)}
      </span>
    </div>
  );
}

/** The title as the link to the recording. */
export function TitleLink({ recording }: { recording: RecordingBody }) {
  return (
    <Link to={recordingUrl(recording.id)} className={classes.title ?? ""}>
      {recording.title}
    </Link>
  );
}

/** Start time, media type and participants. */
export function Facts({ recording }: { recording: RecordingBody }) {
  const people = (recording.participants ?? []).map(({ name }) => name);
  return (
    <div className={classes.facts}>
      <time dateTime={recording.start_datetime} title={fullTime(recording.start_datetime)}>
        {dayAndTime(recording.start_datetime)}
      </time>
      <span>{kinds[recording.media_type]}</span>
      {people.length === 0 ? null : (
        <span title={people.join(", ")} className={classes.people ?? ""}>
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
        <Badge variant="light" tt="none" fw={600}>
          {recording.meeting_type.name}
        </Badge>
      )}
      {tags.map((tag) => (
        <Badge key={tag} variant="default" tt="none" fw={500}>
          {tag}
        </Badge>
      ))}
      {more > 0 ? (
        <Badge variant="default" tt="none" fw={500} title={recording.tags.join(", ")}>
          +{more}
        </Badge>
      ) : null}
    </div>
  );
}
