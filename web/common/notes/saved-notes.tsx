import { Trans, useLingui } from "@lingui/react/macro";
import { Group, Stack, Text, Textarea } from "@mantine/core";
import { IconCheck, IconLock } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { errorText } from "../actions.tsx";
import { readDraft, removeDraft, writeDraft } from "../drafts/store.ts";
import { useDraftOwner } from "../drafts/use-draft.tsx";
import { lazyPart } from "../load-part.tsx";

const OtherNotes = lazyPart(async () => (await import("./other-notes.tsx")).OtherNotes);

type State = "saved" | "typing" | "saving" | { readonly failed: string };

const pauseMs = 800;
const retryMs = 5000;

interface NotesProps {
  /** The name of the draft in this browser. */
  readonly name: string;
  readonly saved: string;
  readonly maxLength: number;
  readonly save: (text: string) => Promise<unknown>;
}

/** Notes that are saved automatically. */
export function SavedNotes(props: NotesProps) {
  const { t } = useLingui();
  const { text, setText, state, other, useOther, discardOther } = useNotes(props);
  return (
    <Stack gap="xs">
      {other === null ? null : (
        <OtherNotes at={other.at} text={other.text} onUse={useOther} onDiscard={discardOther} />
      )}
      <Textarea
        label={t`Your notes`}
        description={t`Only visible to you.`}
        placeholder={t`What is worth remembering?`}
        autosize
        minRows={8}
        maxRows={24}
        dir="auto"
        maxLength={props.maxLength}
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
  if (typeof state === "object") {
    const { failed: reason } = state;
    return (
      <Text size="sm" c="var(--mantine-color-error)">
        <Trans>Not saved yet: {reason} Retrying…</Trans>
      </Text>
    );
  }
  if (state === "typing" || state === "saving")
    return (
      <Text size="sm" c="dimmed">
        <Trans>Saving…</Trans>
      </Text>
    );
  if (isEmpty)
    return (
      <>
        <IconLock size={16} stroke={1.6} aria-hidden />
        <Text size="sm" c="dimmed">
          <Trans>Autosaved</Trans>
        </Text>
      </>
    );
  return (
    <>
      <IconCheck size={16} stroke={2} aria-hidden />
      <Text size="sm" c="dimmed">
        <Trans>Saved</Trans>
      </Text>
    </>
  );
}

/** Saves notes shortly after the last keystroke. Until then they are kept as a draft in this browser. */
function useNotes({ name, saved: initial, save: send }: NotesProps) {
  const owner = useDraftOwner();
  const [found] = useState(() => findDraft(owner, name, initial));
  const [text, setText] = useState(found?.continues === true ? found.text : initial);
  const [other, setOther] = useState(found?.continues === false ? found : null);
  const [state, setState] = useState<State>(text === initial ? "saved" : "typing");
  const latest = useRef({ text, kept: initial });
  const isSaving = useRef(false);
  const save = useRef(async (): Promise<void> => undefined);
  save.current = async () => {
    if (isSaving.current || latest.current.text === latest.current.kept) return;
    isSaving.current = true;
    setState("saving");
    const sent = latest.current.text;
    try {
      await send(sent);
      latest.current.kept = sent;
      removeDraft(owner, name, sent);
      setState(latest.current.text === sent ? "saved" : "typing");
    } catch (error) {
      setState({ failed: errorText(error) });
    } finally {
      isSaving.current = false;
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
    const saveNow = (): void => void save.current();
    window.addEventListener("pagehide", saveNow);
    window.addEventListener("online", saveNow);
    return () => {
      window.removeEventListener("pagehide", saveNow);
      window.removeEventListener("online", saveNow);
      saveNow();
    };
  }, []);
  const change = (next: string): void => {
    latest.current.text = next;
    if (next === latest.current.kept) removeDraft(owner, name);
    else writeDraft(owner, name, { base: latest.current.kept, value: next });
    setText(next);
    setState("typing");
  };
  return {
    text,
    state,
    setText: change,
    other,
    useOther: () => {
      if (other !== null) change(other.text);
      setOther(null);
    },
    discardOther: () => {
      removeDraft(owner, name);
      setOther(null);
    },
  };
}

/** The stored draft, if it differs from the saved notes. `continues`: the draft started from these notes. */
function findDraft(owner: string, name: string, saved: string) {
  const draft = readDraft(owner, name);
  if (draft === null || typeof draft.value !== "string" || draft.value === saved) return null;
  return { text: draft.value, at: draft.at, continues: draft.base === saved };
}
