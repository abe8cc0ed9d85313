import { Group, Stack, Text, Textarea } from "@mantine/core";
import { IconCheck, IconLock } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { ApiError } from "../../api/client.ts";
import { recordingQuery } from "../../api/recording.ts";
import { EmptyState } from "../../common/states.tsx";
import { useRecording } from "../context.ts";

type State = "saved" | "typing" | "saving" | { readonly failed: string };

const pauseMs = 800;
const retryMs = 5000;

/** The reader's own notes. They are kept by themselves, and say so. */
export function NotesPanel() {
  const { view } = useRecording();
  return view.can.write_private_notes ? (
    <OwnNotes />
  ) : (
    <ReadNotes text={view.recording.private_notes?.text ?? ""} />
  );
}

/** Notes from a time when the reader still wrote some, or the reason why there are none. */
function ReadNotes({ text }: { text: string }) {
  if (text === "")
    return (
      <EmptyState title="No notes" icon={<IconLock size={30} stroke={1.5} />}>
        Viewers read along and keep no notes. An admin can make you a member.
      </EmptyState>
    );
  return (
    <Textarea
      label="Your notes"
      description="Nobody but you can read them. As a viewer you can't change them."
      autosize
      minRows={4}
      maxRows={24}
      dir="auto"
      readOnly
      value={text}
    />
  );
}

function OwnNotes() {
  const { view } = useRecording();
  const { text, setText, state } = useNotes(view.recording.private_notes?.text ?? "");
  return (
    <Stack gap="xs">
      <Textarea
        label="Your notes"
        description="Nobody but you can read them."
        placeholder="What is worth remembering?"
        autosize
        minRows={8}
        maxRows={24}
        dir="auto"
        maxLength={100_000}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Group gap={6} role="status" mih={22}>
        <StateLine state={state} isEmpty={text === ""} />
      </Group>
    </Stack>
  );
}

function StateLine({ state, isEmpty }: { state: State; isEmpty: boolean }) {
  if (typeof state === "object")
    return (
      <Text size="sm" c="var(--mantine-color-error)">
        Not saved yet: {state.failed} Tried again by itself.
      </Text>
    );
  if (state === "typing" || state === "saving")
    return (
      <Text size="sm" c="dimmed">
        Saving…
      </Text>
    );
  if (isEmpty)
    return (
      <>
        <IconLock size={16} stroke={1.6} aria-hidden />
        <Text size="sm" c="dimmed">
          Saved by itself as you type
        </Text>
      </>
    );
  return (
    <>
      <IconCheck size={16} stroke={2} aria-hidden />
      <Text size="sm" c="dimmed">
        Saved
      </Text>
    </>
  );
}

/** Keeps what is typed: a moment after the last letter, and at the latest when the page is left. */
function useNotes(initial: string) {
  const { id, actions } = useRecording();
  const client = useQueryClient();
  const [text, setText] = useState(initial);
  const [state, setState] = useState<State>("saved");
  const latest = useRef({ text, kept: initial });
  const isUnderWay = useRef(false);
  const save = useRef(async (): Promise<void> => undefined);
  save.current = async () => {
    if (isUnderWay.current || latest.current.text === latest.current.kept) return;
    isUnderWay.current = true;
    setState("saving");
    const sent = latest.current.text;
    try {
      await actions.writeNotes(sent);
      latest.current.kept = sent;
      client.setQueryData(recordingQuery(id).queryKey, (view) =>
        view === undefined
          ? view
          : {
              ...view,
              recording: { ...view.recording, private_notes: sent.trim() === "" ? null : { text: sent } },
            },
      );
      setState(latest.current.text === sent ? "saved" : "typing");
    } catch (error) {
      setState({ failed: error instanceof ApiError ? error.message : "something went wrong." });
    } finally {
      isUnderWay.current = false;
    }
  };
  useEffect(() => {
    if (text === latest.current.kept) return;
    const timer = setTimeout(() => save.current(), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    if (state !== "typing" && typeof state !== "object") return;
    const timer = setTimeout(() => save.current(), state === "typing" ? pauseMs : retryMs);
    return () => clearTimeout(timer);
  }, [state]);
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent): void => {
      if (latest.current.text === latest.current.kept) return;
      void save.current();
      event.preventDefault();
    };
    window.addEventListener("beforeunload", warn);
    return () => {
      window.removeEventListener("beforeunload", warn);
      void save.current();
    };
  }, []);
  return {
    text,
    state,
    setText: (next: string) => {
      latest.current.text = next;
      setText(next);
      setState("typing");
    },
  };
}
