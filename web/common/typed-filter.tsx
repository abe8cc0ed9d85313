import { CloseButton, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { type ReactNode, useEffect, useRef, useState } from "react";

const typingPauseMs = 400;

/** A filter that is typed: it takes effect after a moment's pause. */
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
  // What was told comes back as the value, maybe when more has been typed already: that must not be lost.
  const told = useRef(value);
  const tell = useDebouncedCallback((next: string) => {
    told.current = next.trim();
    onChange(told.current || undefined);
  }, typingPauseMs);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the callback is another each time.
  useEffect(() => {
    if (value === told.current) return;
    told.current = value;
    tell.cancel();
    setText(value);
  }, [value]);
  const change = (next: string) => {
    setText(next);
    tell(next);
  };
  return (
    <TextInput
      aria-label={props.label}
      placeholder={props.placeholder}
      leftSection={props.icon}
      error={props.error}
      rightSection={
        text === "" ? null : (
          <CloseButton size="sm" aria-label={`Empty: ${props.label}`} onClick={() => change("")} />
        )
      }
      value={text}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
