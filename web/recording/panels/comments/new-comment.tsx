import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Group, SegmentedControl, Tooltip } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { commentActions } from "../../../api/recording/comment-actions.ts";
import { clock } from "../../../common/format/time.ts";
import { usePlaybackState } from "../../../player/context.ts";
import { useRecording } from "../../context.ts";
import { CommentForm, useCommentDraft } from "./comment-form.tsx";

/** The field for a new thread, at a moment or on the whole recording. The moment is that at which the field got the focus. */
export function NewComment() {
  const { t } = useLingui();
  const { id, playback, durationMs, commentTask: task } = useRecording();
  const actions = commentActions(useQueryClient(), id);
  const draft = useCommentDraft(`comment:${id}:new`);
  const { text, at } = draft.value;
  const isEmpty = text === "";
  const field = useRef<HTMLTextAreaElement>(null);
  const [isWhole, setWhole] = useState(!isEmpty && at === null);
  // The moment while there is no text; null: that of the player.
  const [pinned, setPinned] = useState<number | null>(null);
  const nowMs = (): number => Math.min(Math.round(playback.getState().timeMs), durationMs);
  const setMoment = (ms: number): void => {
    setWhole(false);
    if (isEmpty) setPinned(ms);
    else draft.change({ at: ms });
  };
  const done = useRef<object | null>(null);
  useEffect(() => {
    if (task === null || !("at" in task) || done.current === task) return;
    done.current = task;
    field.current?.focus();
    setMoment(Math.min(task.at, durationMs));
  });
  const moment = isEmpty ? pinned : at;
  return (
    <CommentForm
      draft={draft}
      label={t`New comment`}
      placeholder={t`Add a comment. Type @ to mention someone.`}
      button={t({ message: "Comment", context: "verb" })}
      field={field}
      onFocus={() => isEmpty && setPinned(nowMs())}
      onBlur={() => isEmpty && setPinned(null)}
      momentOf={(next) => (isWhole || next === "" ? null : isEmpty ? (pinned ?? nowMs()) : at)}
      send={({ at: timestamp, ...input }) =>
        actions.create({ ...input, ...(timestamp === null ? {} : { timestamp }) })
      }
      onDone={() => setPinned(null)}
    >
      <Group gap={4} wrap="nowrap">
        <SegmentedControl
          size="xs"
          aria-label={t({
            message: "About",
            comment: "what a comment is about: a moment or the whole recording",
          })}
          value={isWhole ? "whole" : "moment"}
          onChange={(value) => {
            setWhole(value === "whole");
            draft.change({ at: value === "whole" || isEmpty ? null : nowMs() });
          }}
          data={[
            {
              value: "moment",
              label: (
                <Trans>
                  At <Clock ms={moment} />
                </Trans>
              ),
            },
            { value: "whole", label: t`Whole recording` },
          ]}
        />
        {isWhole || moment === null ? null : <UseNow moment={moment} onUse={() => setMoment(nowMs())} />}
      </Group>
    </CommentForm>
  );
}

/** A moment; null: that of the player. */
function Clock({ ms }: { ms: number | null }) {
  return ms === null ? <NowClock /> : clock(ms);
}

function NowClock() {
  return clock(1000 * useSecond());
}

/** Takes the moment of the player, where that is another one. */
function UseNow({ moment, onUse }: { moment: number; onUse: () => void }) {
  const { t } = useLingui();
  if (useSecond() === Math.floor(moment / 1000)) return null;
  return (
    <Tooltip label={t`Use current moment`}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={28}
        aria-label={t`Use current moment`}
        // Keeps the focus, and with it the moment, of the field.
        onMouseDown={(event) => event.preventDefault()}
        onClick={onUse}
      >
        <IconRefresh size={16} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
  );
}

function useSecond(): number {
  return usePlaybackState((state) => Math.floor(state.timeMs / 1000));
}
