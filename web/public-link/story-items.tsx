import { t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Text, Title, UnstyledButton } from "@mantine/core";
import { IconPlayerSkipBackFilled, IconPlayerSkipForwardFilled, IconVolume } from "@tabler/icons-react";
import { clock, lengthInWords } from "../common/format/time.ts";
import type { Item } from "./api.ts";
import classes from "./public-link.module.css";
import type { Playlist } from "./use-item.ts";

/** The current item, with buttons for previous and next. */
export function StorySteps({ items, playlist }: { items: readonly Item[]; playlist: Playlist }) {
  const { item, at, go } = playlist;
  if (item === undefined) return null;
  const [position, count] = [at + 1, items.length];
  const recordingTitle = item.recording_title;
  return (
    <div className={classes.steps}>
      <div className={classes.words} aria-live="polite">
        <Title order={2} size="h4" className={classes.breakable ?? ""} dir="auto">
          {item.title}
        </Title>
        <Text size="sm" c="dimmed" className={classes.breakable ?? ""} dir="auto">
          {recordingTitle === null ? (
            <Trans>
              {position} of {count}
            </Trans>
          ) : (
            <Trans>
              {position} of {count} · from {recordingTitle}
            </Trans>
          )}
        </Text>
      </div>
      <Group gap="xs" wrap="nowrap">
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlayerSkipBackFilled size={14} aria-hidden />}
          disabled={at === 0}
          onClick={() => go(at - 1)}
        >
          <Trans>Previous</Trans>
        </Button>
        <Button
          variant="default"
          size="xs"
          rightSection={<IconPlayerSkipForwardFilled size={14} aria-hidden />}
          disabled={at === items.length - 1}
          onClick={() => go(at + 1)}
        >
          <Trans>Next</Trans>
        </Button>
      </Group>
    </div>
  );
}

/** All items of a story, in order. */
export function StoryItems({ items, playlist }: { items: readonly Item[]; playlist: Playlist }) {
  const { t } = useLingui();
  return (
    // biome-ignore lint/a11y/noRedundantRoles: some screen readers ignore lists without markers.
    <ol role="list" className={classes.items} aria-label={t`In this story`}>
      {items.map((item, index) => (
        <li key={item.id}>
          <UnstyledButton
            className={classes.item ?? ""}
            aria-current={index === playlist.at ? "step" : undefined}
            onClick={() => playlist.go(index)}
          >
            <span className={classes.picture}>
              {item.thumbnail_url === null ? (
                <IconVolume size={22} stroke={1.5} aria-hidden />
              ) : (
                <img src={item.thumbnail_url} alt="" loading="lazy" decoding="async" />
              )}
              <span className={classes.length} role="img" aria-label={lengthInWords(item.duration)}>
                {clock(item.duration)}
              </span>
            </span>
            <span className={classes.words}>
              <Text span fw={600} lineClamp={2} dir="auto">
                {item.title}
              </Text>
              <Text span size="sm" c="dimmed" lineClamp={1} dir="auto">
                {stateOf(item) ?? item.recording_title}
              </Text>
            </span>
          </UnstyledButton>
        </li>
      ))}
    </ol>
  );
}

function stateOf({ state }: Item): string | null {
  if (state === "preparing") return t`Preparing`;
  if (state === "failed") return t`Can't play`;
  return null;
}
