import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Avatar, Group, Menu, Text } from "@mantine/core";
import { IconDots, IconLink, IconPencil, IconTrash } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useEffect, useRef, useState } from "react";
import { splitMentions } from "../../../../shared/mentions.ts";
import { commentActions } from "../../../api/recording/comment-actions.ts";
import type { Comment } from "../../../api/recording/comments.ts";
import { useClipboard } from "../../../common/clipboard.ts";
import { readDraft } from "../../../common/drafts/store.ts";
import { useDraftOwner } from "../../../common/drafts/use-draft.tsx";
import { Inline } from "../../../common/format/markdown.tsx";
import { initials } from "../../../common/format/names.ts";
import { dayAndTime, fullTime } from "../../../common/format/time.ts";
import { Confirm } from "../../../common/forms/confirm.tsx";
import { commentLink } from "../../../common/recording-url.ts";
import { useRecording } from "../../context.ts";
import { CommentForm, useCommentDraft } from "./comment-form.tsx";
import classes from "./comments.module.css";
import { Reactions } from "./reactions.tsx";

const page = getRouteApi("/signed-in/recordings/$recordingId");

/** One comment: author, text, reactions and what can be done with it. @param props.opened the comment to scroll to. */
export function CommentView({
  comment,
  opened,
}: {
  comment: Comment;
  opened: { readonly id: string } | null;
}) {
  const { t } = useLingui();
  const { id } = useRecording();
  const { author } = comment;
  const draftName = `comment:${id}:edit:${comment.id}`;
  const owner = useDraftOwner();
  const [editing, setEditing] = useState(() => (readDraft(owner, draftName) === null ? "no" : "restored"));
  const frame = useRef<HTMLElement>(null);
  const isOpened = opened?.id === comment.id;
  useEffect(() => {
    if (opened?.id !== comment.id) return;
    frame.current?.scrollIntoView({ block: "center" });
    frame.current?.focus({ preventScroll: true });
  }, [opened, comment.id]);
  if (author === null)
    return (
      <Text size="sm" c="dimmed">
        <Trans>This comment was deleted.</Trans>
      </Text>
    );
  return (
    <article
      ref={frame}
      className={classes.comment}
      tabIndex={-1}
      data-opened={isOpened || undefined}
      aria-label={t`Comment by ${{ name: author.name }}`}
    >
      <Group gap="xs" wrap="nowrap" align="center">
        <Avatar size={26} radius="xl" color="indigo" aria-hidden>
          {initials(author.name)}
        </Avatar>
        <Text span size="sm" fw={600} dir="auto" className={classes.name ?? ""} title={author.email}>
          {author.name}
        </Text>
        <Text span size="xs" c="dimmed" className={classes.when ?? ""}>
          <time dateTime={comment.created_datetime} title={fullTime(comment.created_datetime)}>
            {dayAndTime(comment.created_datetime)}
          </time>
          {comment.edited_datetime === null ? null : (
            <span title={fullTime(comment.edited_datetime)}>
              {" "}
              <Trans>(edited)</Trans>
            </span>
          )}
        </Text>
        <CommentMenu comment={comment} authorName={author.name} onEdit={() => setEditing("yes")} />
      </Group>
      {editing !== "no" ? (
        <EditComment
          draftName={draftName}
          comment={comment}
          isFocused={editing === "yes"}
          onClose={() => setEditing("no")}
        />
      ) : (
        <CommentText comment={comment} />
      )}
      <Reactions comment={comment} />
    </article>
  );
}

function EditComment(props: {
  draftName: string;
  comment: Comment;
  isFocused: boolean;
  onClose: () => void;
}) {
  const { t } = useLingui();
  const { draftName, comment, isFocused, onClose } = props;
  const { id } = useRecording();
  const actions = commentActions(useQueryClient(), id);
  return (
    <CommentForm
      draft={useCommentDraft(draftName, comment.text)}
      mentioned={comment.mentions}
      label={t`Edit comment`}
      button={t`Save`}
      isFocused={isFocused}
      send={({ text, mentions }) => actions.update(comment.id, { text, mentions })}
      onDone={onClose}
      onCancel={onClose}
    />
  );
}

/** Links, emphasis and mentions; everything else is shown as it was written. */
function CommentText({ comment: { text, mentions } }: { comment: Comment }) {
  const leaf = useCallback(
    (part: string) =>
      splitMentions(part, mentions).map((piece, i) =>
        typeof piece === "string" ? (
          piece
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: a user may be mentioned twice.
          <span key={i} className={classes.mention} title={piece.email}>
            @{piece.name}
          </span>
        ),
      ),
    [mentions],
  );
  return (
    <div className={classes.text} dir="auto">
      <Inline text={text} leaf={leaf} hasCode={false} />
    </div>
  );
}

function CommentMenu(props: { comment: Comment; authorName: string; onEdit: () => void }) {
  const { t } = useLingui();
  const { comment, authorName, onEdit } = props;
  const { id, view } = useRecording();
  const { user } = page.useRouteContext().session;
  const actions = commentActions(useQueryClient(), id);
  const copy = useClipboard();
  const [isDeleting, setDeleting] = useState(false);
  const isOwn = view.can.comment && comment.author?.id === user.id;
  return (
    <>
      <Menu position="bottom-end" width={180}>
        <Menu.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            size={26}
            className={classes.menu ?? ""}
            aria-label={t`Actions for comment by ${{ name: authorName }}`}
          >
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<IconLink size={16} />}
            onClick={() => copy.text(commentLink(view.recording.url, comment.id), t`Link copied`)}
          >
            <Trans>Copy link</Trans>
          </Menu.Item>
          {isOwn ? (
            <Menu.Item leftSection={<IconPencil size={16} />} onClick={onEdit}>
              <Trans>Edit</Trans>
            </Menu.Item>
          ) : null}
          {isOwn || user.role === "admin" ? (
            <Menu.Item
              c="var(--mantine-color-error)"
              leftSection={<IconTrash size={16} />}
              onClick={() => setDeleting(true)}
            >
              <Trans>Delete</Trans>
            </Menu.Item>
          ) : null}
        </Menu.Dropdown>
      </Menu>
      <Confirm
        opened={isDeleting}
        onClose={() => setDeleting(false)}
        title={t`Delete comment?`}
        label={t`Delete comment`}
        run={() => actions.delete(comment.id)}
      >
        <Trans>It is deleted for everyone, and can't be restored.</Trans>
        {comment.parent_id === null ? (
          <>
            {" "}
            <Trans>Replies to it stay.</Trans>
          </>
        ) : null}
      </Confirm>
    </>
  );
}
