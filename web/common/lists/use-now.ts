import { useEffect, useState } from "react";

const tickMs = 20_000;

/** The time, in ms since 1970, for what changes on the page from minute to minute. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, []);
  return now;
}
