import { ActionIcon, Alert, Badge, Button, Group, Stack, Text, Tooltip } from "@mantine/core";
import { IconCode, IconExternalLink, IconLinkOff, IconSettings } from "@tabler/icons-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { changeLink, type LinkBody, takeBackLink } from "../api/links.ts";
import { FormError, useAction } from "../common/actions.tsx";
import { CopyField } from "../common/secret-once.tsx";
import { clock, timeOfDay, whenInLine } from "../common/time.ts";
import { EmbedCode } from "./embed-code.tsx";
import { LinkSettings } from "./link-settings.tsx";
import type { Linked } from "./linked.ts";
import classes from "./links.module.css";

type Panel = "settings" | "embed" | "end" | null;

/** One link: its address, what it allows, and what can be done with it. */
export function LinkCard(props: { link: LinkBody; number: number; linked: Linked; onGone: () => void }) {
  const { link, number, linked, onGone } = props;
  const [panel, setPanel] = useState<Panel>(null);
  const buttons = useRef<HTMLDivElement>(null);
  const toggle = (name: Panel): void => setPanel(panel === name ? null : name);
  const close = (): void => {
    // The button that opened the panel has the focus again.
    buttons.current?.querySelector<HTMLElement>(`[data-opens="${panel}"]`)?.focus();
    setPanel(null);
  };
  const isOver = link.expires_datetime !== null && Date.parse(link.expires_datetime) <= Date.now();
  const opens = (name: Exclude<Panel, null>) => ({
    "data-opens": name,
    "aria-expanded": panel === name,
    onClick: () => toggle(name),
  });
  return (
    <section className={classes.card} aria-label={`Link ${number}`}>
      <CopyField label={`Link ${number}`} value={link.url} />
      <Facts link={link} isOver={isOver} />
      <LeftOut link={link} />
      <Group gap={6} ref={buttons} justify="space-between">
        <Group gap={6}>
          <Tool icon={<IconSettings size={16} aria-hidden />} {...opens("settings")}>
            Settings
          </Tool>
          <Tool icon={<IconCode size={16} aria-hidden />} {...opens("embed")}>
            Embed
          </Tool>
          <Tooltip label="Open it as others see it" openDelay={300}>
            <ActionIcon
              component="a"
              href={link.url}
              target="_blank"
              rel="noopener"
              variant="subtle"
              color="gray"
              size={30}
              aria-label={`Open link ${number} in a new tab`}
            >
              <IconExternalLink size={16} />
            </ActionIcon>
          </Tooltip>
        </Group>
        <Tool icon={<IconLinkOff size={16} aria-hidden />} color="red" {...opens("end")}>
          Take back
        </Tool>
      </Group>
      {panel === "settings" ? <LinkSettings link={link} linked={linked} onClose={close} /> : null}
      {panel === "embed" ? <EmbedCode link={link} title={linked.title} /> : null}
      {panel === "end" ? <TakeBack link={link} onCancel={close} onDone={onGone} /> : null}
    </section>
  );
}

function Tool(props: {
  icon: ReactNode;
  color?: string;
  "data-opens": string;
  "aria-expanded": boolean;
  onClick: () => void;
  children: string;
}) {
  const { icon, color = "gray", children, ...button } = props;
  return (
    <Button size="compact-sm" variant="subtle" color={color} leftSection={icon} {...button}>
      {children}
    </Button>
  );
}

function Facts({ link, isOver }: { link: LinkBody; isOver: boolean }) {
  const { expires_datetime: end, last_opened_datetime: opened } = link;
  const rules = [
    ...(end === null ? [] : [isOver ? `Expired ${whenInLine(end)}` : `Until ${whenInLine(end)}`]),
    ...(link.has_password ? ["Password"] : []),
    ...(link.allow_download ? ["Can be downloaded"] : []),
    ...(link.start === null ? [] : [`Begins at ${clock(link.start)}`]),
  ];
  const maker = link.created_by === null ? "" : ` by ${link.created_by.name}`;
  return (
    <Group gap={6}>
      {rules.map((rule) => (
        <Badge
          key={rule}
          variant={isOver && rule.startsWith("Expired") ? "filled" : "default"}
          color="red"
          tt="none"
          fw={500}
        >
          {rule}
        </Badge>
      ))}
      <Text size="xs" c="dimmed" className={classes.breakable ?? ""}>
        Made {whenInLine(link.created_datetime)}
        {maker} · {opened === null ? "not opened yet" : `last opened ${openedInLine(opened)}`}
      </Text>
    </Group>
  );
}

/** Of an opening the server keeps the hour it was in alone, whose beginning may be before the link was made. */
function openedInLine(hour: string): string {
  const end = Date.parse(hour) + 3_600_000;
  return end > Date.now()
    ? "within the last hour"
    : `${whenInLine(hour)}–${timeOfDay(new Date(end).toISOString())}`;
}

/** Of a story: what it does not show, and the consent that changes that. */
function LeftOut({ link }: { link: LinkBody }) {
  const agree = useAction({
    run: () => changeLink(link.id, { agree: true }),
    refresh: [["links"]],
    showsError: true,
  });
  if (link.left_out === 0) return null;
  const [many, them, their] =
    link.left_out === 1
      ? ["1 highlight is", "it", "its recording"]
      : [`${link.left_out} highlights are`, "them", "their recordings"];
  return (
    <Alert variant="light" color="yellow" p="xs" c="bright" role="status">
      <Stack gap={6} align="flex-start">
        <Text size="sm">
          {many} left out, because nobody who may share {their} has agreed to show {them} with this link.
          {agree.isSuccess ? ` Somebody who recorded ${them}, or an admin, can do that.` : ""}
        </Text>
        {agree.isSuccess ? null : (
          <Button
            size="compact-sm"
            variant="default"
            loading={agree.isPending}
            onClick={() => agree.mutate()}
          >
            Include {them}
          </Button>
        )}
        <FormError error={agree.error} fields={[]} />
      </Stack>
    </Alert>
  );
}

function TakeBack(props: { link: LinkBody; onCancel: () => void; onDone: () => void }) {
  const { link, onCancel, onDone } = props;
  const keep = useRef<HTMLButtonElement>(null);
  useEffect(() => keep.current?.focus(), []);
  const end = useAction({
    run: () => takeBackLink(link.id),
    done: "The link was taken back",
    refresh: [["links"], ["stories"]],
    showsError: true,
    onDone,
  });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields.
    <div role="group" aria-label="Take back the link?" className={classes.panel}>
      <Text size="sm">
        It ends at once, for everybody who has it, also where it is playing now. The same address never works
        again.
      </Text>
      <FormError error={end.error} fields={[]} />
      <Group gap="xs" mt="xs">
        <Button ref={keep} size="xs" variant="default" onClick={onCancel}>
          Keep it
        </Button>
        <Button size="xs" color="red.9" loading={end.isPending} onClick={() => end.mutate()}>
          Take it back
        </Button>
      </Group>
    </div>
  );
}
