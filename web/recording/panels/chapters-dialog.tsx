import { plural, t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Textarea } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import type { Chapter } from "../../../contract/recordings/chapters.ts";
import { chapterStartProblem, maxChapterTitle, minChapterGapMs } from "../../../shared/chapters.ts";
import { saveChapters } from "../../api/recording/intelligence.ts";
import { refreshRecording } from "../../api/recording/recording.ts";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { useDraft } from "../../common/drafts/use-draft.tsx";
import { clock } from "../../common/format/time.ts";
import { Form, useForm } from "../../common/forms/form.tsx";
import { useRecording } from "../context.ts";

/** Edits the chapters as a text: a line for each, with its time and title. */
export function ChaptersDialog({ onClose }: { onClose: () => void }) {
  const { t } = useLingui();
  const { id, view, playback, hasMedia } = useRecording();
  const client = useQueryClient();
  const draft = useDraft(`chapters:${id}`, { text: toText(view.chapters) });
  const { text } = draft.value;
  const read = readChapters(text, view.chapters, view.recording.duration_ms);
  const save = useForm({
    run: () => saveChapters(id, read.chapters),
    done: t`Chapters saved`,
    draft,
    onDone: async () => {
      await refreshRecording(client, id);
      onClose();
    },
  });
  const addTime = () => {
    const before = text === "" || text.endsWith("\n") ? text : `${text}\n`;
    draft.change({ text: `${before}${clock(playback.getState().timeMs)} ` });
  };
  return (
    <FormDialog opened onClose={onClose} title={t`Edit chapters`} size="lg">
      <Form
        form={save}
        label={t`Save`}
        onCancel={onClose}
        isDisabled={read.problem !== null}
        buttons={
          hasMedia ? (
            <Button variant="default" onClick={addTime}>
              <Trans>Add current time</Trans>
            </Button>
          ) : null
        }
      >
        <Textarea
          label={t`Chapters`}
          description={t`One per line: the time, then the title, such as “12:30 Budget”.`}
          autosize
          minRows={6}
          maxRows={20}
          dir="auto"
          data-autofocus
          value={text}
          onChange={(event) => draft.change({ text: event.currentTarget.value })}
          error={read.problem}
        />
      </Form>
    </FormDialog>
  );
}

function toText(chapters: readonly Chapter[]): string {
  return chapters.map(({ title, start }) => `${clock(start)} ${title}`).join("\n");
}

/** Reads the text; chapters whose time is unchanged keep their exact start and their quote. */
function readChapters(
  text: string,
  before: readonly Chapter[],
  durationMs: number,
): { readonly chapters: Chapter[]; readonly problem: string | null } {
  const chapters: Chapter[] = [];
  let problem: string | null = null;
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const [, hours = "0", minutes, seconds, title = ""] =
      /^\s*(?:(\d{1,3}):)?(\d{1,3}):([0-5]\d)\s+(\S.*)$/.exec(line) ?? [];
    const number = index + 1;
    if (minutes === undefined || seconds === undefined) {
      problem ??= t`Line ${number} must be a time and a title, such as “12:30 Budget”.`;
      continue;
    }
    const typed = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
    const same = before.find(({ start }) => clock(start) === clock(typed));
    const start = same?.start ?? typed;
    const wrong = chapterStartProblem(start, chapters.at(-1)?.start, durationMs);
    if (wrong === "after_end")
      problem ??= t`Line ${number}: the time must be before the end of the recording.`;
    if (wrong === "too_close")
      problem ??= plural(
        { seconds: minChapterGapMs / 1000 },
        {
          one: `Line ${number}: the time must be at least # second after the previous chapter's start.`,
          other: `Line ${number}: the time must be at least # seconds after the previous chapter's start.`,
        },
      );
    if (title.trim().length > maxChapterTitle)
      problem ??= plural(maxChapterTitle, {
        one: `Line ${number}: the title must have at most # character.`,
        other: `Line ${number}: the title must have at most # characters.`,
      });
    chapters.push({ title: title.trim(), start, quote: same?.quote ?? "" });
  }
  return { chapters, problem };
}
