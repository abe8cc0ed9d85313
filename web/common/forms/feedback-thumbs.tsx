import type { MessageDescriptor } from "@lingui/core";
import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Group, Stack, Text, Textarea, Tooltip } from "@mantine/core";
import { IconThumbDown, IconThumbDownFilled, IconThumbUp, IconThumbUpFilled } from "@tabler/icons-react";
import type { QueryKey } from "@tanstack/react-query";
import { useState } from "react";
import type { Feedback } from "../../api/feedback.ts";
import { useAction } from "../actions.tsx";
import { Form, useForm } from "./form.tsx";

interface Thumb {
  readonly rating: Feedback["rating"];
  readonly labels: Readonly<Record<Props["subject"], MessageDescriptor>>;
  readonly icons: readonly [typeof IconThumbUp, typeof IconThumbUp];
}

const thumbs: readonly Thumb[] = [
  {
    rating: "up",
    labels: { summary: msg`Good summary`, answer: msg`Good answer` },
    icons: [IconThumbUp, IconThumbUpFilled],
  },
  {
    rating: "down",
    labels: { summary: msg`Bad summary`, answer: msg`Bad answer` },
    icons: [IconThumbDown, IconThumbDownFilled],
  },
];

const groups = { summary: msg`Feedback on this summary`, answer: msg`Feedback on this answer` } as const;

interface Props {
  /** What is rated. */
  readonly subject: "summary" | "answer";
  /** The user's feedback so far. Give the component another key when it is about something else. */
  readonly given: Feedback | null;
  /** Null withdraws it. */
  readonly save: (feedback: Feedback | null) => Promise<unknown>;
  /** Prefixes of the query keys that have the feedback. */
  readonly refresh: readonly QueryKey[];
}

/** Thumbs up and down on what the language model wrote, and a comment. The thumb that is chosen withdraws the feedback. */
export function FeedbackThumbs({ subject, given, save, refresh }: Props) {
  const { t } = useLingui();
  const [now, setNow] = useState(given);
  const [isWriting, setWriting] = useState(false);
  const rate = useAction({
    run: (feedback: Feedback | null) => save(feedback),
    onDone: (_, feedback) => {
      setNow(feedback);
      if (feedback === null) setWriting(false);
    },
    refresh,
  });
  return (
    <Stack gap="xs">
      <Group gap={4} role="group" aria-label={t(groups[subject])}>
        {thumbs.map(({ rating, labels, icons: [Empty, Filled] }) => {
          const isChosen = now?.rating === rating;
          const Icon = isChosen ? Filled : Empty;
          const label = t(labels[subject]);
          return (
            <Tooltip key={rating} label={isChosen ? t`Withdraw` : label}>
              <ActionIcon
                variant="subtle"
                color={isChosen ? "blue" : "gray"}
                aria-label={label}
                aria-pressed={isChosen}
                loading={rate.isPending && rate.variables?.rating === rating}
                disabled={rate.isPending}
                onClick={() => rate.mutate(isChosen ? null : { rating, comment: now?.comment ?? "" })}
              >
                <Icon size={18} stroke={1.6} aria-hidden />
              </ActionIcon>
            </Tooltip>
          );
        })}
        {now === null || isWriting ? null : (
          <Button variant="subtle" size="compact-sm" onClick={() => setWriting(true)}>
            {now.comment === "" ? t`Add a comment` : t`Change comment`}
          </Button>
        )}
      </Group>
      {now === null || isWriting || now.comment === "" ? null : (
        <Text size="sm" c="dimmed" dir="auto">
          {now.comment}
        </Text>
      )}
      {now !== null && isWriting ? (
        <CommentForm
          given={now}
          save={save}
          refresh={refresh}
          onSaved={setNow}
          onClose={() => setWriting(false)}
        />
      ) : null}
    </Stack>
  );
}

function CommentForm(
  props: Pick<Props, "save" | "refresh"> & {
    given: Feedback;
    onSaved: (feedback: Feedback) => void;
    onClose: () => void;
  },
) {
  const { t } = useLingui();
  const { given, save, refresh, onSaved, onClose } = props;
  const [comment, setComment] = useState(given.comment);
  const feedback = { rating: given.rating, comment: comment.trim() };
  const form = useForm({
    run: () => save(feedback),
    refresh,
    onDone: () => {
      onSaved(feedback);
      onClose();
    },
  });
  return (
    <Form form={form} label={t`Save comment`} onCancel={onClose}>
      <Textarea
        label={t`Comment`}
        description={t`Admins can read it. They don't see who wrote it or which meeting it is about.`}
        autosize
        minRows={2}
        maxRows={6}
        data-autofocus
        value={comment}
        error={form.errorOf("comment")}
        onChange={(event) => setComment(event.currentTarget.value)}
      />
    </Form>
  );
}
