import { t } from "@lingui/core/macro";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Alert, Badge, Button, Group, Stack, Text, Tooltip } from "@mantine/core";
import { IconCode, IconExternalLink, IconLinkOff, IconSettings } from "@tabler/icons-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { deleteLink, type LinkBody, updateLink } from "../api/public-links.ts";
import { FormError, useAction } from "../common/actions.tsx";
import { CopyField } from "../common/dialogs/secret-once.tsx";
import { clock, timeOfDay, whenInLine } from "../common/format/time.ts";
import { EmbedCode } from "./embed-code.tsx";
import { LinkForm } from "./link-form.tsx";
import classes from "./link-settings.module.css";
import type { LinkSubject } from "./link-subject.ts";

type Panel = "settings" | "embed" | "delete" | null;

/** One link: its URL, settings and actions. */
export function LinkCard(props: {
  link: LinkBody;
  number: number;
  subject: LinkSubject;
  onGone: () => void;
}) {
  const { t } = useLingui();
  const { link, number, subject, onGone } = props;
  const [panel, setPanel] = useState<Panel>(null);
  const buttons = useRef<HTMLDivElement>(null);
  const toggle = (name: Panel): void => setPanel(panel === name ? null : name);
  const close = (): void => {
    // Returns focus to the button that opened the panel.
    buttons.current?.querySelector<HTMLElement>(`[data-opens="${panel}"]`)?.focus();
    setPanel(null);
  };
  const isExpired = link.expires_datetime !== null && Date.parse(link.expires_datetime) <= Date.now();
  const opens = (name: Exclude<Panel, null>) => ({
    "data-opens": name,
    "aria-expanded": panel === name,
    onClick: () => toggle(name),
  });
  return (
    <section className={classes.card} aria-label={t`Link ${number}`}>
      <CopyField label={t`Link ${number}`} value={link.url} />
      <Facts link={link} isExpired={isExpired} />
      <HiddenHighlights link={link} />
      <Group gap={6} ref={buttons} justify="space-between">
        <Group gap={6}>
          <Tool icon={<IconSettings size={16} aria-hidden />} {...opens("settings")}>
            {t`Settings`}
          </Tool>
          <Tool icon={<IconCode size={16} aria-hidden />} {...opens("embed")}>
            {t`Embed`}
          </Tool>
          <Tooltip label={t`Preview as viewer`} openDelay={300}>
            <ActionIcon
              component="a"
              href={link.url}
              target="_blank"
              rel="noopener"
              variant="subtle"
              color="gray"
              size={30}
              aria-label={t`Open link ${number} in a new tab`}
            >
              <IconExternalLink size={16} />
            </ActionIcon>
          </Tooltip>
        </Group>
        <Tool icon={<IconLinkOff size={16} aria-hidden />} color="red" {...opens("delete")}>
          {t`Delete`}
        </Tool>
      </Group>
      {panel === "settings" ? <LinkForm link={link} subject={subject} onClose={close} /> : null}
      {panel === "embed" ? <EmbedCode link={link} title={subject.title} /> : null}
      {panel === "delete" ? <DeleteLink link={link} onCancel={close} onDone={onGone} /> : null}
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

function Facts({ link, isExpired }: { link: LinkBody; isExpired: boolean }) {
  const { t } = useLingui();
  const { expires_datetime: end, last_opened_datetime: opened } = link;
  const rules = [
    ...(end === null || isExpired ? [] : [t`Until ${{ time: whenInLine(end) }}`]),
    ...(link.has_password ? [t`Password`] : []),
    ...(link.allow_download ? [t`Download allowed`] : []),
    ...(link.include_summary ? [t`Summary included`] : []),
    ...(link.start === null ? [] : [t`Starts at ${{ time: clock(link.start) }}`]),
  ];
  const time = whenInLine(link.created_datetime);
  const name = link.created_by?.name;
  return (
    <Group gap={6}>
      {end !== null && isExpired ? (
        <Badge variant="filled" color="red.9" tt="none" fw={500}>
          {t`Expired ${{ time: whenInLine(end) }}`}
        </Badge>
      ) : null}
      {rules.map((rule) => (
        <Badge key={rule} variant="default" tt="none" fw={500}>
          {rule}
        </Badge>
      ))}
      <Text size="xs" c="dimmed" className={classes.breakable ?? ""}>
        {name === undefined ? (
          <Trans>Created {time}</Trans>
        ) : (
          <Trans>
            Created {time} by {name}
          </Trans>
        )}{" "}
        · {opened === null ? t`not opened yet` : openedInLine(opened)}
      </Text>
    </Group>
  );
}

/** The server stores only the hour of the last visit, which may start before the link was created. */
function openedInLine(hour: string): string {
  const end = Date.parse(hour) + 3_600_000;
  if (end > Date.now()) return t`last opened within the last hour`;
  return t`last opened ${{ start: whenInLine(hour) }}–${{ end: timeOfDay(new Date(end).toISOString()) }}`;
}

/** For stories: the highlights that the link hides, with a button to approve them. */
function HiddenHighlights({ link }: { link: LinkBody }) {
  const approve = useAction({
    run: () => updateLink(link.id, { agree: true }),
    refresh: [["links"]],
    showsError: true,
  });
  const count = link.left_out;
  if (count === 0) return null;
  return (
    <Alert variant="light" color="yellow" p="xs" c="bright" role="status">
      <Stack gap={6} align="flex-start">
        <Text size="sm">
          <Plural
            value={count}
            one="# highlight hidden until its owner approves sharing."
            other="# highlights hidden until their owners approve sharing."
          />
          {approve.isSuccess ? (
            <>
              {" "}
              <Plural
                value={count}
                one="Its owner or an admin can approve it."
                other="Their owners or an admin can approve them."
              />
            </>
          ) : null}
        </Text>
        {approve.isSuccess ? null : (
          <Button
            size="compact-sm"
            variant="default"
            loading={approve.isPending}
            onClick={() => approve.mutate()}
          >
            <Plural value={count} one="Include it" other="Include them" />
          </Button>
        )}
        <FormError error={approve.error} fields={[]} />
      </Stack>
    </Alert>
  );
}

function DeleteLink(props: { link: LinkBody; onCancel: () => void; onDone: () => void }) {
  const { t } = useLingui();
  const { link, onCancel, onDone } = props;
  const keep = useRef<HTMLButtonElement>(null);
  useEffect(() => keep.current?.focus(), []);
  const end = useAction({
    run: () => deleteLink(link.id),
    done: t`Link deleted`,
    // A recording without links is no longer public.
    refresh: [["links"], ["stories"], ["recording"], ["recordings"]],
    showsError: true,
    onDone,
  });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields.
    <div role="group" aria-label={t`Delete the link?`} className={classes.panel}>
      <Text size="sm">
        <Trans>It stops working immediately for everyone. The URL can't be reused.</Trans>
      </Text>
      <FormError error={end.error} fields={[]} />
      <Group gap="xs" mt="xs">
        <Button ref={keep} size="xs" variant="default" onClick={onCancel}>
          <Trans>Cancel</Trans>
        </Button>
        <Button size="xs" color="red.9" loading={end.isPending} onClick={() => end.mutate()}>
          <Trans>Delete link</Trans>
        </Button>
      </Group>
    </div>
  );
}
