import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Text } from "@mantine/core";
import { IconArrowBackUp, IconCheck } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { commentActions } from "../../../api/recording/comment-actions.ts";
import { useAction } from "../../../common/actions.tsx";
import { readDraft } from "../../../common/drafts/store.ts";
import { useDraftOwner } from "../../../common/drafts/use-draft.tsx";
import { clock, whenInLine } from "../../../common/format/time.ts";
import { useRecording } from "../../context.ts";
import { MomentButton } from "../moment-button.tsx";
import { CommentForm, useCommentDraft } from "./comment-form.tsx";
import { CommentView } from "./comment-view.tsx";
import classes from "./comments.module.css";
import type { Thread } from "./threads.ts";

/** A thread with its replies, and the field for another one. @param props.opened the comment to scroll to. */
export function ThreadView({ thread, opened }: { thread: Thread; opened: { readonly id: string } | null }) {
  const { t } = useLingui();
  const { root, replies } = thread;
  const { id, view } = useRecording();
  const actions = commentActions(useQueryClient(), id);
  const draftName = `comment:${id}:reply:${root.id}`;
  const owner = useDraftOwner();
  const [replying, setReplying] = useState(() => (readDraft(owner, draftName) === null ? "no" : "restored"));
  const time = root.resolved_datetime === null ? null : whenInLine(root.resolved_datetime);
  const name = root.resolved_by?.name;
  const isResolved = root.resolved_datetime !== null;
  const resolve = useAction({ run: () => actions.resolve(root.id, !isResolved) });
  return (
    <li
      className={classes.thread}
      aria-label={root.timestamp === null ? t`Whole recording` : t`At ${{ time: clock(root.timestamp) }}`}
    >
      <Group justify="space-between" gap="xs" wrap="nowrap" mih={28}>
        {root.timestamp === null ? (
          <Text size="xs" c="dimmed">
            <Trans>Whole recording</Trans>
          </Text>
        ) : (
          <MomentButton ms={root.timestamp} />
        )}
        {view.can.comment ? (
          <Button
            size="compact-xs"
            variant="subtle"
            color="gray"
            leftSection={
              isResolved ? <IconArrowBackUp size={14} aria-hidden /> : <IconCheck size={14} aria-hidden />
            }
            loading={resolve.isPending}
            onClick={() => resolve.mutate()}
          >
            {isResolved ? t`Reopen` : t`Resolve`}
          </Button>
        ) : null}
      </Group>
      {time !== null ? (
        <Text size="xs" c="dimmed">
          {name === undefined ? (
            <Trans>Resolved, {time}</Trans>
          ) : (
            <Trans>
              Resolved by {name}, {time}
            </Trans>
          )}
        </Text>
      ) : null}
      <CommentView comment={root} opened={opened} />
      {replies.length === 0 ? null : (
        <ul className={classes.replies} aria-label={t`Replies`}>
          {replies.map((reply) => (
            <li key={reply.id}>
              <CommentView comment={reply} opened={opened} />
            </li>
          ))}
        </ul>
      )}
      {!view.can.comment ? null : replying !== "no" ? (
        <Reply
          draftName={draftName}
          rootId={root.id}
          isFocused={replying === "yes"}
          onClose={() => setReplying("no")}
        />
      ) : (
        <Button size="compact-xs" variant="subtle" w="fit-content" onClick={() => setReplying("yes")}>
          <Trans>Reply</Trans>
        </Button>
      )}
    </li>
  );
}

function Reply(props: { draftName: string; rootId: string; isFocused: boolean; onClose: () => void }) {
  const { t } = useLingui();
  const { draftName, rootId, isFocused, onClose } = props;
  const { id } = useRecording();
  const actions = commentActions(useQueryClient(), id);
  return (
    <CommentForm
      draft={useCommentDraft(draftName)}
      label={t({ message: "Reply", context: "noun" })}
      button={t`Reply`}
      isFocused={isFocused}
      send={({ text, mentions }) => actions.create({ text, mentions, parent_id: rootId })}
      onDone={onClose}
      onCancel={onClose}
    />
  );
}
