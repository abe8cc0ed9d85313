import { plural, t } from "@lingui/core/macro";
import { Plural, useLingui } from "@lingui/react/macro";
import { Checkbox, Group, Select, Text, TextInput } from "@mantine/core";
import { useDeferredValue, useMemo, useState } from "react";
import type { Transcript } from "../../api/recording/recording.ts";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { number } from "../../common/format/numbers.ts";
import { clock } from "../../common/format/time.ts";
import { Form } from "../../common/forms/form.tsx";
import { segmentSpeakerKey, speakerKey } from "../../common/speakers.ts";
import { findReplacements, type Replacement } from "../../transcript/replace.ts";
import { useRecording } from "../context.ts";
import classes from "./replace.module.css";
import { editErrorText, useTranscriptEdit } from "./use-edit.ts";

/** Lines shown in the preview. */
const maxShown = 50;

/** Lines and characters that one edit can change; the server's limits. */
const maxLines = 1000;
const maxCharacters = 200_000;

const none: ReadonlyMap<number, string> = new Map();

/** Replaces words in the whole transcript, in one edit that can be undone; in several if there are too many lines. */
export function ReplaceDialog(props: {
  isOpen: boolean;
  transcript: Transcript;
  /** What is searched for in the transcript. */
  query: string;
  onClose: () => void;
}) {
  const { t } = useLingui();
  return (
    <FormDialog opened={props.isOpen} onClose={props.onClose} title={t`Find and replace`} size="lg">
      <ReplaceForm {...props} />
    </FormDialog>
  );
}

function ReplaceForm({
  transcript,
  query,
  onClose,
}: {
  transcript: Transcript;
  query: string;
  onClose: () => void;
}) {
  const { t } = useLingui();
  const { actions } = useRecording();
  const edit = useTranscriptEdit();
  const [find, setFind] = useState(query.trim());
  const [replacement, setReplacement] = useState("");
  const [isWholeWord, setWholeWord] = useState(true);
  const [isCaseSensitive, setCaseSensitive] = useState(false);
  const [speaker, setSpeaker] = useState<string | null>(null);
  /** The texts that lines were to get, by their index: lines that have got them aren't searched again. */
  const [attempted, setAttempted] = useState<ReadonlyMap<number, string>>(none);
  /** Changes what is replaced: lines that were replaced before are searched again. */
  const search = (change: () => void): void => {
    setAttempted(none);
    change();
  };
  const options = useMemo(
    () => ({
      find,
      replacement,
      isWholeWord,
      isCaseSensitive,
      includes: (segment: Transcript["segments"][number]) =>
        attempted.get(segment.index) !== segment.text &&
        (speaker === null || segmentSpeakerKey(segment) === speaker),
    }),
    [find, replacement, isWholeWord, isCaseSensitive, speaker, attempted],
  );
  // Searching a long transcript must not delay typing.
  const latest = useDeferredValue(options);
  const all = useMemo(() => findReplacements(transcript.segments, latest), [transcript.segments, latest]);
  const edits = useMemo(() => editsOf(all), [all]);
  const count = all.reduce((sum, line) => sum + line.count, 0);
  const submit = (): void => {
    if (latest !== options) return;
    // If an edit fails, the dialog continues with the lines that still have their old text.
    setAttempted((before) => new Map([...before, ...all.map(({ index, after }) => [index, after] as const)]));
    let replaced = 0;
    edit.mutate(
      {
        run: async (version) => {
          let result = await actions.correct(version, edits[0] ?? []);
          replaced = edits[0]?.length ?? 0;
          for (const segments of edits.slice(1)) {
            result = await actions.correct(result.transcript_version, segments);
            replaced += segments.length;
          }
          return result;
        },
        failed: (error) =>
          replaced === 0
            ? editErrorText(error)
            : [
                changedText(replaced, all.length),
                editErrorText(error),
                t`Replace again to change the rest.`,
              ].join(" "),
        done: () =>
          [
            plural(count, { one: "Replaced # match.", other: "Replaced # matches." }),
            plural(
              { times: edits.length },
              {
                one: "Undo last edit reverts all of them.",
                other: "Undo last edit # times to revert all of them.",
              },
            ),
          ].join(" "),
      },
      { onSuccess: onClose },
    );
  };
  return (
    <Form
      form={{ isPending: edit.isPending, submit }}
      label={count === 0 ? t`Replace` : plural(count, { one: "Replace #", other: "Replace #" })}
      onCancel={onClose}
      isDisabled={count === 0}
    >
      <TextInput
        label={t`Find`}
        required
        data-autofocus
        maxLength={200}
        value={find}
        onChange={({ currentTarget: { value } }) => search(() => setFind(value))}
      />
      <TextInput
        label={t`Replace with`}
        maxLength={200}
        value={replacement}
        onChange={({ currentTarget: { value } }) => search(() => setReplacement(value))}
      />
      <Group>
        <Checkbox
          label={t`Whole words`}
          checked={isWholeWord}
          onChange={({ currentTarget: { checked } }) => search(() => setWholeWord(checked))}
        />
        <Checkbox
          label={t`Match case`}
          checked={isCaseSensitive}
          onChange={({ currentTarget: { checked } }) => search(() => setCaseSensitive(checked))}
        />
      </Group>
      <Select
        label={t`Speaker`}
        placeholder={t`All speakers`}
        clearable
        data={transcript.speakers.map((one) => ({ value: speakerKey(one), label: one.name }))}
        value={speaker}
        onChange={setSpeaker}
      />
      <Text size="sm" role="status">
        {find.trim() === ""
          ? t`Type what to find.`
          : count === 0
            ? t`No matches`
            : matchesText(count, all.length)}
      </Text>
      <Preview lines={all} />
    </Form>
  );
}

function matchesText(matches: number, lines: number): string {
  return t`${plural(matches, { one: "# match", other: "# matches" })} in ${plural(lines, { one: "# line", other: "# lines" })}`;
}

/** Says how many lines were changed before an edit failed. */
function changedText(count: number, lines: number): string {
  const changed = number(count);
  return plural(lines, {
    one: `${changed} of # line was changed.`,
    other: `${changed} of # lines were changed.`,
  });
}

/** The edits that make the replacements, the last lines first. */
function editsOf(lines: readonly Replacement[]): { index: number; text: string }[][] {
  const edits: { index: number; text: string }[][] = [];
  let characters = 0;
  for (const { index, after: text } of lines.toReversed()) {
    const current = edits.at(-1);
    characters += text.length;
    if (current === undefined || current.length >= maxLines || characters > maxCharacters) {
      edits.push([{ index, text }]);
      characters = text.length;
    } else current.push({ index, text });
  }
  return edits;
}

function Preview({ lines }: { lines: readonly Replacement[] }) {
  const { t } = useLingui();
  const more = lines.length - maxShown;
  if (lines.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolled with the keyboard.
    <section className={classes.preview} aria-label={t`Preview`} tabIndex={0}>
      <ol>
        {lines.slice(0, maxShown).map(({ index, speaker, start, before, after }) => (
          <li key={index}>
            <Text size="xs" c="dimmed" dir="auto">
              {clock(start)} {speaker}
            </Text>
            <del dir="auto">{before}</del>
            <ins dir="auto">{after}</ins>
          </li>
        ))}
      </ol>
      {more > 0 ? (
        <Text size="sm" c="dimmed">
          <Plural value={more} one="and # more line" other="and # more lines" />
        </Text>
      ) : null}
    </section>
  );
}
