import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Badge, Menu } from "@mantine/core";
import { IconDots, IconPencil, IconPlaylistAdd, IconTrash, IconVideo, IconWorld } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import type { ListedBody } from "../api/highlights.ts";
import { namesInLine, namesInSentence } from "../common/format/names.ts";
import { clock, dayAndTime, fullTime, lengthInWords } from "../common/format/time.ts";
import rows from "../common/lists/rows.module.css";
import type { Action } from "./action-dialogs.tsx";
import classes from "./highlights.module.css";
import { momentUrl } from "./url.ts";

/** A highlight in the list; its title plays it. */
export function HighlightRow({
  highlight,
  onAction,
}: {
  highlight: ListedBody;
  onAction: (action: Action) => void;
}) {
  const { t } = useLingui();
  const { text, recording, speakers = [], tags, can_change } = highlight;
  return (
    <div className={`${rows.linked} ${classes.row}`}>
      <div className={classes.picture}>
        <img src={highlight.thumbnail_url} alt="" loading="lazy" decoding="async" />
        <span className={classes.length} role="img" aria-label={lengthInWords(highlight.duration)}>
          {clock(highlight.duration)}
        </span>
      </div>
      <div className={classes.grow}>
        <Link
          to="/highlights"
          search={(before: object) => ({ ...before, play: highlight.id })}
          className={rows.title ?? ""}
        >
          {text}
        </Link>
        <div className={classes.facts}>
          <span>{recording.title}</span>
          <time dateTime={recording.start_datetime} title={fullTime(recording.start_datetime)}>
            {dayAndTime(recording.start_datetime)}
          </time>
          {speakers.length === 0 ? null : (
            <span title={namesInSentence(speakers)}>{namesInLine(speakers)}</span>
          )}
        </div>
        {tags.length === 0 ? null : (
          <div className={classes.tags}>
            {tags.map((tag) => (
              <Badge key={tag} variant="default" tt="none" fw={500}>
                {tag}
              </Badge>
            ))}
          </div>
        )}
      </div>
      <Menu position="bottom-end" width={210}>
        <Menu.Target>
          <ActionIcon
            variant="subtle"
            color="gray"
            className={classes.more ?? ""}
            aria-label={t`Actions for ${{ title: text }}`}
          >
            <IconDots size={20} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<IconPlaylistAdd size={18} />}
            onClick={() => onAction({ kind: "story", highlight })}
          >
            <Trans>Add to story</Trans>
          </Menu.Item>
          <Menu.Item
            leftSection={<IconWorld size={18} />}
            onClick={() => onAction({ kind: "share", highlight })}
          >
            <Trans>Public links</Trans>
          </Menu.Item>
          <Menu.Item component="a" href={momentUrl(highlight)} leftSection={<IconVideo size={18} />}>
            <Trans>Open in recording</Trans>
          </Menu.Item>
          {can_change ? (
            <>
              <Menu.Item
                leftSection={<IconPencil size={18} />}
                onClick={() => onAction({ kind: "edit", highlight })}
              >
                <Trans>Edit</Trans>
              </Menu.Item>
              <Menu.Divider />
              <Menu.Item
                color="red"
                leftSection={<IconTrash size={18} />}
                onClick={() => onAction({ kind: "delete", highlight })}
              >
                <Trans>Delete</Trans>
              </Menu.Item>
            </>
          ) : null}
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}
