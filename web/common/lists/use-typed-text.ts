import { createContext, useContext, useEffect, useRef, useState } from "react";
import { useReportAfterPause } from "./use-report-after-pause.ts";

/** Counts how often the filters were cleared, so that what was typed right before is not applied afterwards. */
export const ClearedContext = createContext(0);

/**
 * The text of a filter that applies after a pause in typing.
 * @returns the text, and a function that changes it.
 */
export function useTypedText(
  value: string,
  onChange: (value: string | undefined) => void,
): readonly [string, (text: string) => void] {
  const [text, setText] = useState(value);
  // The reported text returns as `value`, perhaps after more was typed; that must not be overwritten.
  const reported = useRef(value);
  const report = useReportAfterPause((next) => {
    reported.current = next.trim();
    onChange(reported.current || undefined);
  });
  const reset = (to: string) => {
    reported.current = to;
    report.cancel();
    setText(to);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the callback is a new function on each render.
  useEffect(() => {
    if (value !== reported.current) reset(value);
  }, [value]);
  const cleared = useContext(ClearedContext);
  const known = useRef(cleared);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the callback is a new function on each render.
  useEffect(() => {
    if (known.current === cleared) return;
    known.current = cleared;
    reset("");
  }, [cleared]);
  const change = (next: string) => {
    setText(next);
    report(next);
  };
  return [text, change];
}
