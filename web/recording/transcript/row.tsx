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
import type { Segment } from "../../api/recording.ts";
import { clock } from "../../common/time.ts";
import type { SpeakerColor } from "../speakers.ts";
import type { Hit } from "./find.ts";
import classes from "./transcript.module.css";

/** What the field for a line's text is given. */
export interface EditorProps {
  readonly segment: Segment;
  readonly version: number;
  readonly onClose: () => void;
}

/** What a row's menu and clicks ask for. */
export interface RowActions {
  readonly goTo: (segment: Segment) => void;
  readonly clip: (segment: Segment) => void;
  readonly copyLink: (segment: Segment) => void;
  readonly copyText: (segment: Segment) => void;
  /** null: the reader may not edit. */
  readonly edit: ((segment: Segment) => void) | null;
  readonly Editor: ComponentType<EditorProps> | null;
  readonly closeEdit: () => void;
  readonly speaker: ((segment: Segment) => void) | null;
  /** null: the reader may not add highlights. */
  readonly canClip: boolean;
  readonly hasMedia: boolean;
}

interface RowProps {
  readonly segment: Segment;
  /** The first of what a speaker says in one go. */
  readonly isFirst: boolean;
  readonly color: SpeakerColor;
  readonly isActive: boolean;
  /** Among the lines selected by keyboard. */
  readonly isChosen: boolean;
  /** Where Tab enters the list. */
  readonly isCursor: boolean;
  readonly hits: readonly Hit[] | undefined;
  readonly currentHit: Hit | null;
  /** The version that is edited; null while this row is not. */
  readonly editedVersion: number | null;
  readonly actions: RowActions;
}

/** One segment of the transcript. */
export const Row = memo(function Row(props: RowProps) {
  const { segment, isFirst, color, isActive, isChosen, isCursor, hits, currentHit } = props;
  const { editedVersion, actions } = props;
  const { Editor } = actions;
  const [isNear, setNear] = useState(false);
  // The menu costs more than all the rest of the row: it is made for whoever comes near, by pointer or by focus.
  const [hasFocus, setFocus] = useState(false);
  const time = clock(segment.start);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notes that somebody is near what is within.
    <div
      className={classes.row}
      data-active={isActive || undefined}
      data-chosen={isChosen || undefined}
      onPointerEnter={() => setNear(true)}
      onPointerLeave={() => setNear(false)}
      onFocus={() => setFocus(true)}
      onBlur={(event) => setFocus(event.currentTarget.contains(event.relatedTarget))}
    >
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
          // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: the time beside it does the same by keyboard.
          <div
            className={classes.text}
            data-text
            dir="auto"
            onClick={() => {
              if (window.getSelection()?.isCollapsed !== false) actions.goTo(segment);
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
        {editedVersion === null && (isNear || hasFocus) ? (
          <RowMenu segment={segment} actions={actions} isInOrder={isCursor} />
        ) : null}
      </div>
    </div>
  );
});

function RowMenu(props: { segment: Segment; actions: RowActions; isInOrder: boolean }) {
  const { segment, actions, isInOrder } = props;
  return (
    <Menu position="bottom-end" width={210}>
      <Menu.Target>
        <ActionIcon
          className={classes.more ?? ""}
          variant="default"
          size={26}
          tabIndex={isInOrder ? 0 : -1}
          aria-label={`More for ${clock(segment.start)}`}
        >
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.hasMedia ? (
          <Menu.Item leftSection={<IconPlayerPlay size={16} />} onClick={() => actions.goTo(segment)}>
            Play from here
          </Menu.Item>
        ) : null}
        {actions.canClip ? (
          <Menu.Item leftSection={<IconScissors size={16} />} onClick={() => actions.clip(segment)}>
            Make a clip
          </Menu.Item>
        ) : null}
        <Menu.Item leftSection={<IconLink size={16} />} onClick={() => actions.copyLink(segment)}>
          Copy link to this moment
        </Menu.Item>
        <Menu.Item leftSection={<IconCopy size={16} />} onClick={() => actions.copyText(segment)}>
          Copy text
        </Menu.Item>
        {actions.edit === null ? null : (
          <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => actions.edit?.(segment)}>
            Edit text
          </Menu.Item>
        )}
        {actions.speaker === null ? null : (
          <Menu.Item leftSection={<IconUserEdit size={16} />} onClick={() => actions.speaker?.(segment)}>
            Change speaker
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

/** A text with what was looked for set off. */
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
