import { msg } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { ActionIcon, Group, Popover, Tooltip, UnstyledButton } from "@mantine/core";
import { IconMoodPlus } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { usersQuery } from "../../../api/directory.ts";
import { commentActions } from "../../../api/recording/comment-actions.ts";
import type { Comment } from "../../../api/recording/comments.ts";
import { useAction } from "../../../common/actions.tsx";
import { namesInLine } from "../../../common/format/names.ts";
import { useRecording } from "../../context.ts";
import classes from "./comments.module.css";

/** What is offered; what others reacted with can be chosen too. */
const choices = [
  ["👍", msg({ message: "Thumbs up", context: "emoji" })],
  ["❤️", msg({ message: "Heart", context: "emoji" })],
  ["😄", msg({ message: "Smile", context: "emoji" })],
  ["🎉", msg({ message: "Celebration", context: "emoji" })],
  ["👀", msg({ message: "Eyes", context: "emoji" })],
  ["✅", msg({ message: "Done", context: "emoji" })],
] as const;

/** The reactions to a comment, each with those who chose it, and a choice of more. */
export function Reactions({ comment }: { comment: Comment }) {
  const { t } = useLingui();
  const { id, view } = useRecording();
  const { user } = page.useRouteContext().session;
  const actions = commentActions(useQueryClient(), id);
  const users = useQuery(usersQuery).data?.users ?? [];
  const [isOpen, setOpen] = useState(false);
  const react = useAction({
    run: (emoji: string) => {
      const mine = comment.reactions.find((reaction) => reaction.emoji === emoji)?.user_ids ?? [];
      return actions.react(comment.id, emoji, !mine.includes(user.id));
    },
  });
  const canReact = view.can.comment;
  const nameOf = (userId: string) => users.find((one) => one.id === userId)?.name ?? t`someone`;
  if (comment.reactions.length === 0 && !canReact) return null;
  return (
    <Group gap={4} role="group" aria-label={t`Reactions`}>
      {comment.reactions.map(({ emoji, user_ids: userIds }) => {
        const names = namesInLine(userIds.map(nameOf), 10);
        return (
          <Tooltip key={emoji} label={names} multiline maw={280}>
            <UnstyledButton
              className={classes.reaction ?? ""}
              aria-label={`${emoji} ${userIds.length}: ${names}`}
              aria-pressed={userIds.includes(user.id)}
              disabled={!canReact || react.isPending}
              onClick={() => react.mutate(emoji)}
            >
              <span aria-hidden>{emoji}</span> {userIds.length}
            </UnstyledButton>
          </Tooltip>
        );
      })}
      {canReact ? (
        <Popover opened={isOpen} onChange={setOpen} trapFocus returnFocus position="bottom-start">
          <Popover.Target>
            <ActionIcon
              variant="subtle"
              color="gray"
              size={26}
              aria-label={t`Add reaction`}
              onClick={() => setOpen(!isOpen)}
            >
              <IconMoodPlus size={16} stroke={1.6} />
            </ActionIcon>
          </Popover.Target>
          <Popover.Dropdown p={6} aria-label={t`Reactions`}>
            <Group gap={2}>
              {choices.map(([emoji, label]) => (
                <ActionIcon
                  key={emoji}
                  variant="subtle"
                  color="gray"
                  size={34}
                  aria-label={t(label)}
                  onClick={() => {
                    setOpen(false);
                    react.mutate(emoji);
                  }}
                >
                  {emoji}
                </ActionIcon>
              ))}
            </Group>
          </Popover.Dropdown>
        </Popover>
      ) : null}
    </Group>
  );
}

const page = getRouteApi("/signed-in/recordings/$recordingId");
