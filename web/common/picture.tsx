import { useLingui } from "@lingui/react";
import { IconFileText, IconVideo, IconVolume } from "@tabler/icons-react";
import { useState } from "react";
import type { RecordingBody } from "../api/directory.ts";
import { clock, lengthInWords } from "./format/time.ts";
import classes from "./picture.module.css";

const icons = { video: IconVideo, audio: IconVolume, transcript: IconFileText } as const;

/** The thumbnail of a recording, or an icon of its media type, with its length. */
export function Picture({
  recording,
}: {
  recording: Pick<RecordingBody, "media_type" | "thumbnail_url" | "duration_ms">;
}) {
  // Renders again with another language, also within rows that never change otherwise.
  useLingui();
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
