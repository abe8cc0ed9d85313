import { useState } from "react";
import classes from "./stories.module.css";

/** The page loads pictures over https alone. */
export function isShowable(url: string | null): url is string {
  return url !== null && (url.startsWith("https://") || URL.parse(url)?.origin === window.location.origin);
}

/** The picture above a story; nothing where there is none, or none to be had. */
export function Banner({ url }: { url: string | null }) {
  const [isBroken, setBroken] = useState(false);
  if (isBroken || !isShowable(url)) return null;
  return (
    <img
      src={url}
      alt=""
      className={classes.banner}
      decoding="async"
      // Whoever has the picture need not know which story it stands in.
      referrerPolicy="no-referrer"
      onError={() => setBroken(true)}
    />
  );
}
