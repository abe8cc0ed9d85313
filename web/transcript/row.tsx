import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Menu, Text, UnstyledButton } from "@mantine/core";
import {
  IconCopy,
  IconDots,
  IconLink,
  IconPencil,
  IconPlayerPlay,
  IconScissors,
  IconUserEdit,
} from "@tabler/icons-react";
import { type ComponentType, memo, type ReactNode, useState } from "react";
import type { Segment } from "../api/recording/recording.ts";
import { clock } from "../common/format/time.ts";
import type { SpeakerColor } from "../common/speakers.ts";
import type { CommentMark } from "../player/context.ts";
import type { Hit } from "./find.ts";
import classes from "./transcript.module.css";
import { offsetAt } from "./words.ts";

/** Properties of a line's editor. */
export interface EditorProps {
  readonly segment: Segment;
  readonly version: number;
  readonly onClose: () => void;
}

/** Actions of a row's menu and clicks. */
export interface RowActions {
  readonly goTo: (segment: Segment) => void;
  /** Plays from the word at an offset of the text. */
  readonly goToWord: (segment: Segment, offset: number) => void;
  readonly clip: (segment: Segment) => void;
  readonly copyLink: (segment: Segment) => void;
  readonly copyText: (segment: Segment) => void;
  /** null if the user can't edit. */
  readonly edit: ((segment: Segment) => void) | null;
  readonly Editor: ComponentType<EditorProps> | null;
  readonly closeEdit: () => void;
  readonly openComment: ((id: string) => void) | undefined;
  readonly speaker: ((segment: Segment) => void) | null;
  /** Whether the user can add highlights. */
  readonly canClip: boolean;
  readonly hasMedia: boolean;
}

interface RowProps {
  readonly segment: Segment;
  /** The title of the chapter that begins here. */
  readonly heading: string | undefined;
  readonly comments: readonly CommentMark[] | undefined;
  /** The first line of a speaker's turn. */
  readonly isFirst: boolean;
  readonly color: SpeakerColor;
  readonly isActive: boolean;
  /** Selected by keyboard. */
  readonly isSelected: boolean;
  /** The row that Tab focuses. */
  readonly isCursor: boolean;
  readonly hits: readonly Hit[] | undefined;
  readonly currentHit: Hit | null;
  /** The transcript version being edited; null if this row isn't. */
  readonly editedVersion: number | null;
  readonly actions: RowActions;
}

/** One segment of the transcript. */
export const Row = memo(function Row(props: RowProps) {
  const { t } = useLingui();
  const { segment, isFirst, color, isActive, isSelected, isCursor, hits, currentHit } = props;
  const { editedVersion, actions } = props;
  const { Editor } = actions;
  const [isHovered, setHovered] = useState(false);
  // The menu costs more than the rest of the row, so it is rendered only on hover or focus.
  const [hasFocus, setFocus] = useState(false);
  const time = clock(segment.start);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: only tracks hover and focus.
    <div
      className={classes.row}
      data-active={isActive || undefined}
      data-chosen={isSelected || undefined}
      onPointerEnter={() => setHovered(true)}
      onPointerLeave={() => setHovered(false)}
      onFocus={() => setFocus(true)}
      onBlur={(event) => setFocus(event.currentTarget.contains(event.relatedTarget))}
    >
      {props.heading === undefined ? null : (
        <h3 className={classes.heading} dir="auto">
          {props.heading}
        </h3>
      )}
      {isFirst ? (
        <div className={classes.head}>
          <span className={classes.dot} style={{ background: `var(--mantine-color-${color}-filled)` }} />
          {actions.speaker === null ? (
            <Text span fw={600} size="sm" dir="auto" className={classes.speaker ?? ""}>
              {segment.speaker}
            </Text>
          ) : (
            <UnstyledButton
              className={classes.speaker ?? ""}
              tabIndex={isCursor ? 0 : -1}
              dir="auto"
              onClick={() => actions.speaker?.(segment)}
              aria-haspopup="dialog"
            >
              {segment.speaker}
            </UnstyledButton>
          )}
        </div>
      ) : null}
      <div className={classes.line}>
        <UnstyledButton
          className={classes.time ?? ""}
          data-cursor
          tabIndex={isCursor ? 0 : -1}
          aria-label={`${time}, ${segment.speaker}`}
          aria-current={isActive ? "true" : undefined}
          onClick={() => actions.goTo(segment)}
        >
          {time}
        </UnstyledButton>
        {editedVersion === null || Editor === null ? (
          // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: the time button does the same by keyboard.
          <div
            className={classes.text}
            data-text
            dir="auto"
            onClick={({ currentTarget, clientX, clientY }) => {
              if (window.getSelection()?.isCollapsed === false) return;
              actions.goToWord(segment, offsetAt(currentTarget, clientX, clientY) ?? -1);
            }}
            onDoubleClick={() => {
              if (actions.edit === null) return;
              window.getSelection()?.removeAllRanges();
              actions.edit(segment);
            }}
          >
            {marked(segment.text, hits, currentHit)}
          </div>
        ) : (
          <Editor segment={segment} version={editedVersion} onClose={actions.closeEdit} />
        )}
        {props.comments === undefined ? null : (
          <UnstyledButton
            className={classes.comments ?? ""}
            tabIndex={isCursor ? 0 : -1}
            aria-label={t`Comments at ${time}: ${{ count: props.comments.length }}`}
            onClick={() => actions.openComment?.(props.comments?.[0]?.id ?? "")}
          >
            {props.comments.length}
          </UnstyledButton>
        )}
        {editedVersion === null && (isHovered || hasFocus) ? (
          <RowMenu segment={segment} actions={actions} isInOrder={isCursor} />
        ) : null}
      </div>
    </div>
  );
});

function RowMenu(props: { segment: Segment; actions: RowActions; isInOrder: boolean }) {
  const { t } = useLingui();
  const { segment, actions, isInOrder } = props;
  return (
    <Menu position="bottom-end" width={210}>
      <Menu.Target>
        <ActionIcon
          className={classes.more ?? ""}
          variant="default"
          size={26}
          tabIndex={isInOrder ? 0 : -1}
          aria-label={t`Actions for ${{ time: clock(segment.start) }}`}
        >
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.hasMedia ? (
          <Menu.Item leftSection={<IconPlayerPlay size={16} />} onClick={() => actions.goTo(segment)}>
            <Trans>Play from here</Trans>
          </Menu.Item>
        ) : null}
        {actions.canClip ? (
          <Menu.Item leftSection={<IconScissors size={16} />} onClick={() => actions.clip(segment)}>
            <Trans>Create clip</Trans>
          </Menu.Item>
        ) : null}
        <Menu.Item leftSection={<IconLink size={16} />} onClick={() => actions.copyLink(segment)}>
          <Trans>Copy link to this moment</Trans>
        </Menu.Item>
        <Menu.Item leftSection={<IconCopy size={16} />} onClick={() => actions.copyText(segment)}>
          <Trans>Copy text</Trans>
        </Menu.Item>
        {actions.edit === null ? null : (
          <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => actions.edit?.(segment)}>
            <Trans>Edit text</Trans>
          </Menu.Item>
        )}
        {actions.speaker === null ? null : (
          <Menu.Item leftSection={<IconUserEdit size={16} />} onClick={() => actions.speaker?.(segment)}>
            <Trans>Change speaker</Trans>
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

/** A text with its search matches marked. */
function marked(text: string, hits: readonly Hit[] | undefined, current: Hit | null): ReactNode {
  if (hits === undefined) return text;
  const parts: ReactNode[] = [];
  let done = 0;
  for (const hit of hits) {
    parts.push(
      text.slice(done, hit.from),
      <mark key={hit.from} data-current={hit === current || undefined}>
        {text.slice(hit.from, hit.to)}
      </mark>,
    );
    done = hit.to;
  }
  return [...parts, text.slice(done)];
}
