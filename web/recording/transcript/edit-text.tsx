import { Button, Group, Text, Textarea } from "@mantine/core";
import { useState } from "react";
import type { EditorProps } from "./row.tsx";
import classes from "./transcript.module.css";
import { refusalOf, useCorrection } from "./use-edit.ts";

/** A line's text as a field: Enter keeps, Escape leaves it as it was. */
export function EditText({ segment, version, onClose }: EditorProps) {
  const [text, setText] = useState(segment.text);
  // The version that was on the screen when the edit began: what others do meanwhile is not written over.
  const [seen, setSeen] = useState(version);
  const [before] = useState(segment.text);
  const correction = useCorrection();
  const save = (): void => {
    if (text.trim() === segment.text.trim()) {
      onClose();
      return;
    }
    correction.mutate(
      // What was changed elsewhere in the transcript is no reason to ask.
      { version: segment.text === before ? version : seen, index: segment.index, text: text.trim() },
      { onSuccess: onClose, onError: () => setSeen(-1) },
    );
  };
  const isConflict = seen === -1;
  return (
    <div className={classes.editor}>
      <Textarea
        autosize
        autoFocus
        minRows={1}
        maxRows={12}
        dir="auto"
        aria-label="Text of the line"
        value={text}
        maxLength={20_000}
        disabled={correction.isPending}
        onChange={(event) => setText(event.currentTarget.value)}
        onFocus={(event) => event.currentTarget.setSelectionRange(text.length, text.length)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Escape") {
            event.stopPropagation();
            onClose();
          } else if (event.key === "Enter" && !event.shiftKey) {
            event.preventDefault();
            if (!isConflict) save();
          }
        }}
      />
      {correction.isError ? (
        <Text size="sm" c="var(--mantine-color-error)" mt={6} role="alert">
          {refusalOf(correction.error)}
        </Text>
      ) : null}
      {isConflict && segment.text !== text ? (
        <Text size="sm" mt={6}>
          It reads now: “{segment.text}”
        </Text>
      ) : null}
      <Group gap="xs" mt={6}>
        {isConflict ? (
          <Button
            size="compact-sm"
            onClick={() => {
              setSeen(version);
              correction.reset();
            }}
          >
            Go on with my text
          </Button>
        ) : (
          <Button size="compact-sm" loading={correction.isPending} onClick={save}>
            Save
          </Button>
        )}
        <Button size="compact-sm" variant="default" onClick={onClose}>
          Cancel
        </Button>
      </Group>
    </div>
  );
}
