import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, RangeSlider, Stack, Text, TextInput } from "@mantine/core";
import { IconLink } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { HighlightBody } from "../../api/highlights.ts";
import { createLink } from "../../api/public-links.ts";
import { type RecordingHighlight, refreshRecording } from "../../api/recording/recording.ts";
import { errorText } from "../../common/actions.tsx";
import { useClipboard } from "../../common/clipboard.ts";
import { FormDialog } from "../../common/dialogs/form-dialog.tsx";
import { type Draft, DraftNotice, useDraft } from "../../common/drafts/use-draft.tsx";
import { clock, lengthInWords } from "../../common/format/time.ts";
import { Form, useForm } from "../../common/forms/form.tsx";
import { ClipPlayer } from "../../highlights/clip-player.tsx";
import type { ClipRange } from "../../transcript/clip-range.ts";
import { useRecording } from "../context.ts";
import classes from "./clip.module.css";
import { type ClipAction, ClipActionDialog, showClipToast } from "./clip-toast.tsx";
import { keepLink, LinkFields, linkInput, linkProblem, previousLink } from "./link-fields.tsx";

/** How far a clip can be extended beyond the selection. */
const roomMs = 30_000;
const minClipMs = 1000;
const maxTitleCharacters = 100;

/** Creates or edits a highlight. @param range null while closed. */
export function ClipDialog(props: {
  clip: RecordingHighlight | null;
  range: ClipRange | null;
  onClose: () => void;
}) {
  const { t } = useLingui();
  const { clip, range, onClose } = props;
  const [action, setAction] = useState<ClipAction | null>(null);
  return (
    <>
      <FormDialog
        opened={range !== null}
        onClose={onClose}
        title={clip === null ? t`New clip` : t`Edit highlight`}
        size={clip === null ? "lg" : "md"}
      >
        {range === null ? null : clip === null ? (
          <NewClip range={range} onClose={onClose} onAction={setAction} />
        ) : (
          <ChangedClip clip={clip} range={range} onClose={onClose} />
        )}
      </FormDialog>
      <ClipActionDialog action={action} onClose={() => setAction(null)} />
    </>
  );
}

interface ClipDraft {
  readonly text: string;
  /** Milliseconds. */
  readonly start: number;
  readonly end: number;
}

/** The title and range of a clip, with what the API takes. */
function useClip(name: string, range: ClipRange) {
  const maxMs = useRecording().view.recording.duration_ms;
  const draft = useDraft<ClipDraft>(name, {
    text: shorten(range.text),
    start: Math.min(range.startMs, Math.max(0, maxMs - 1)),
    end: Math.min(Math.max(range.endMs, range.startMs + 1), maxMs),
  });
  const { text, start, end } = draft.value;
  const body = {
    text: text.trim(),
    timestamp: Math.round(start),
    duration: Math.max(1, Math.round(end - start)),
  };
  return { draft, body, hasTitle: body.text !== "" };
}

interface Made {
  readonly clip: HighlightBody;
  /** The link to copy. */
  readonly url: string;
}

function NewClip(props: { range: ClipRange; onClose: () => void; onAction: (action: ClipAction) => void }) {
  const { t } = useLingui();
  const { range, onClose, onAction } = props;
  const { id, view, actions, hasMedia } = useRecording();
  const client = useQueryClient();
  const copy = useClipboard();
  const { draft, body, hasTitle } = useClip(`clip:${id}:${Math.round(range.startMs)}`, range);
  const [link, setLink] = useState(() => previousLink(view.can.share));
  // After a failure the clip may exist already.
  const created = useRef<HighlightBody | null>(null);
  const create = async (isLinked: boolean): Promise<Made> => {
    created.current ??= await actions.addHighlight(body);
    const clip = created.current;
    if (!isLinked || !link.isPublic) return { clip, url: clip.url };
    const { url } = await createLink({ kind: "highlight", id: clip.id }, linkInput(link));
    return { clip, url };
  };
  const save = useMutation({
    mutationFn: ({ made }: { made: Promise<Made>; copied: Promise<boolean> | null }) => made,
    onSuccess: async ({ clip, url }, { copied }) => {
      draft.saved();
      keepLink(link);
      onClose();
      showClipToast({
        clip,
        url,
        isCopied: (await copied) === true,
        onShare: view.can.share ? () => onAction({ kind: "share", clip }) : null,
        onAddToStory: () => onAction({ kind: "story", clip }),
      });
      await refreshRecording(client, id);
    },
  });
  const isInvalid = !hasTitle || linkProblem(link) !== null;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (isInvalid) return;
        const made = create(true);
        save.mutate({ made, copied: copy.later(made.then(({ url }) => url)) });
      }}
    >
      <Stack>
        <DraftNotice draft={draft} />
        {hasMedia ? (
          <div className={classes.preview}>
            <ClipPlayer
              highlight={{
                id: "new",
                recording_id: id,
                text: body.text === "" ? t`Clip` : body.text,
                thumbnail_url: view.recording.thumbnail_url,
                timestamp: body.timestamp,
                duration: body.duration,
              }}
            />
          </div>
        ) : null}
        <Fields draft={draft} error={save.error} />
        {view.can.share ? <LinkFields link={link} onChange={setLink} /> : null}
        <Group justify="flex-end">
          <Cancel draft={draft} onClose={onClose} />
          <Button
            variant="default"
            loading={save.isPending && save.variables.copied === null}
            disabled={!hasTitle || save.isPending}
            onClick={() => save.mutate({ made: create(false), copied: null })}
          >
            <Trans>Create clip</Trans>
          </Button>
          <Button
            type="submit"
            leftSection={<IconLink size={18} aria-hidden />}
            loading={save.isPending && save.variables.copied !== null}
            disabled={isInvalid || save.isPending}
          >
            <Trans>Create and copy link</Trans>
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function ChangedClip(props: { clip: RecordingHighlight; range: ClipRange; onClose: () => void }) {
  const { t } = useLingui();
  const { clip, range, onClose } = props;
  const { id, actions } = useRecording();
  const client = useQueryClient();
  const { draft, body, hasTitle } = useClip(`highlight-clip:${clip.id}`, range);
  const save = useForm({
    run: () => actions.updateHighlight(clip.id, body),
    draft,
    done: t`Highlight saved`,
    onDone: async () => {
      await refreshRecording(client, id);
      onClose();
    },
  });
  return (
    <Form form={{ ...save, error: null }} label={t`Save`} onCancel={onClose} isDisabled={!hasTitle}>
      <Fields draft={draft} error={save.error} />
    </Form>
  );
}

/** Title and range. */
function Fields({ draft, error }: { draft: Draft<ClipDraft>; error: unknown }) {
  const { t } = useLingui();
  const maxMs = useRecording().view.recording.duration_ms;
  const { text, start, end } = draft.value;
  const [from, to, length] = [clock(start), clock(end), lengthInWords(end - start)];
  const [room] = useState(() => ({
    from: Math.max(0, start - roomMs),
    to: Math.min(maxMs, end + roomMs),
    // A short line stays short: extending it would include other speakers.
    minRange: Math.min(minClipMs, end - start),
  }));
  return (
    <>
      <TextInput
        label={t`Title`}
        placeholder={t`What is this about?`}
        required
        maxLength={500}
        dir="auto"
        data-autofocus
        value={text}
        onChange={(event) => draft.change({ text: event.currentTarget.value })}
        error={error === null ? null : errorText(error)}
      />
      <div>
        <Text size="sm" mb={8}>
          <Trans>
            From {from} to {to} · {length}
          </Trans>
        </Text>
        <RangeSlider
          min={room.from}
          max={room.to}
          step={500}
          minRange={room.minRange}
          value={[start, end]}
          onChange={([start, end]) => draft.change({ start, end })}
          label={null}
          thumbFromLabel={t`Start`}
          thumbToLabel={t`End`}
          thumbValueText={(value) => clock(value)}
        />
      </div>
    </>
  );
}

function Cancel({ draft, onClose }: { draft: Draft<ClipDraft>; onClose: () => void }) {
  return (
    <Button
      variant="default"
      onClick={() => {
        draft.forget();
        onClose();
      }}
    >
      <Trans>Cancel</Trans>
    </Button>
  );
}

/** The start of the excerpt as the default title. */
function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  if (line.length <= maxTitleCharacters) return line;
  return `${line.slice(0, line.lastIndexOf(" ", maxTitleCharacters) || maxTitleCharacters)}…`;
}
