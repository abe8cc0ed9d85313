import { CloseButton, TextInput } from "@mantine/core";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useReportAfterPause } from "./use-report-after-pause.ts";

/** A text filter that applies after a pause in typing. */
export function TypedFilter(props: {
  label: string;
  placeholder: string;
  icon?: ReactNode;
  value: string;
  onChange: (value: string | undefined) => void;
  error?: string | undefined;
}) {
  const { value, onChange } = props;
  const [text, setText] = useState(value);
  // The reported text returns as `value`, perhaps after more was typed; that must not be overwritten.
  const reported = useRef(value);
  const report = useReportAfterPause((next) => {
    reported.current = next.trim();
    onChange(reported.current || undefined);
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the callback is a new function on each render.
  useEffect(() => {
    if (value === reported.current) return;
    reported.current = value;
    report.cancel();
    setText(value);
  }, [value]);
  const change = (next: string) => {
    setText(next);
    report(next);
  };
  return (
    <TextInput
      aria-label={props.label}
      placeholder={props.placeholder}
      leftSection={props.icon}
      error={props.error}
      rightSection={
        text === "" ? null : (
          <CloseButton size="sm" aria-label={`Clear ${props.label}`} onClick={() => change("")} />
        )
      }
      value={text}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
