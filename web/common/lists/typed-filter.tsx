import { useLingui } from "@lingui/react/macro";
import { CloseButton, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { useTypedText } from "./use-typed-text.ts";

/** A text filter that applies after a pause in typing. */
export function TypedFilter(props: {
  label: string;
  placeholder: string;
  icon?: ReactNode;
  value: string;
  onChange: (value: string | undefined) => void;
  error?: string | undefined;
}) {
  const { t } = useLingui();
  const { label } = props;
  const [text, change] = useTypedText(props.value, props.onChange);
  return (
    <TextInput
      aria-label={label}
      placeholder={props.placeholder}
      leftSection={props.icon}
      error={props.error}
      rightSection={
        text === "" ? null : (
          <CloseButton size="sm" aria-label={t`Clear ${label}`} onClick={() => change("")} />
        )
      }
      value={text}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}
