import { useState } from "react";
import classes from "./stories.module.css";

/** Where this server serves the image of a story. The image's own URL is added so that a new image is loaded. */
export function bannerSource(storyId: string, url: string): string {
  return `/_/api/v1/stories/${storyId}/banner?${new URLSearchParams({ of: url })}`;
}

/** The cover image of a story, if there is one and it loads. */
export function Banner({ storyId, url }: { storyId: string; url: string | null }) {
  const [isBroken, setBroken] = useState(false);
  if (isBroken || url === null) return null;
  return (
    <img
      src={bannerSource(storyId, url)}
      alt=""
      className={classes.banner}
      decoding="async"
      onError={() => setBroken(true)}
    />
  );
}
