import { useState } from "react";
import { bannerUrl } from "../api/stories.ts";
import classes from "./stories.module.css";

/** The cover image of a story, if there is one and it loads. */
export function Banner({ storyId, url }: { storyId: string; url: string | null }) {
  const [isBroken, setBroken] = useState(false);
  if (isBroken || url === null) return null;
  return (
    <img
      src={bannerUrl(storyId, url)}
      alt=""
      className={classes.banner}
      decoding="async"
      onError={() => setBroken(true)}
    />
  );
}
