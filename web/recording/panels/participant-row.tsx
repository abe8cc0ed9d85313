import { useLingui } from "@lingui/react/macro";
import { Badge, Group, Progress, Stack, Text } from "@mantine/core";
import type { ReactNode } from "react";
import type { Speaker } from "../../api/recording/recording.ts";
import { initials } from "../../common/format/names.ts";
import { percent } from "../../common/format/numbers.ts";
import { lengthInWords } from "../../common/format/time.ts";
import { talkShare } from "../../common/speakers.ts";
import classes from "./panels.module.css";

/** A participant or speaker, with facts and talk time. */
export function ParticipantRow(props: {
  name: string;
  facts: readonly string[];
  scope: { readonly name: string; readonly means: string } | null;
  color: string;
  speaker: Speaker | undefined;
  /** All speakers, to compute shares of talk time. */
  speakers: readonly Speaker[];
  /** Below the facts. */
  below: ReactNode;
  /** Actions. */
  children: ReactNode;
}) {
  const { t } = useLingui();
  const { name, facts, scope, color, speaker, speakers, below, children } = props;
  return (
    <Group gap="sm" wrap="nowrap" className={classes.item ?? ""}>
      <span className="initials" aria-hidden style={{ borderColor: `var(--mantine-color-${color}-filled)` }}>
        {initials(name)}
      </span>
      <Stack gap={2} flex={1} miw={0}>
        <Group gap="0 8px" miw={0}>
          <Text fw={500} dir="auto" truncate maw="100%" title={name}>
            {name}
          </Text>
          {scope === null ? null : (
            <Badge variant="default" size="sm" tt="none" fw={500} flex="none" title={scope.means}>
              {scope.name}
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed" className={classes.breakable ?? ""}>
          {facts.join(" · ")}
        </Text>
        {below}
      </Stack>
      {speaker === undefined ? null : (
        <Stack gap={4} className={classes.talk ?? ""}>
          <Text size="sm" ta="end">
            {lengthInWords(speaker.duration_ms)} · {percent(talkShare(speaker, speakers) / 100)}
          </Text>
          <Progress
            value={talkShare(speaker, speakers)}
            color={color}
            size="sm"
            aria-label={t`${name}'s talk time`}
          />
        </Stack>
      )}
      {children}
    </Group>
  );
}
