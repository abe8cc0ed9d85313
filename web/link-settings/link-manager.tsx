import type { MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import { useLingui } from "@lingui/react/macro";
import { Alert, Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { ApiError } from "../api/client/api-error.ts";
import { createLink, type LinkList, type LinkTarget, linksQuery } from "../api/public-links.ts";
import { errorText, useAction } from "../common/actions.tsx";
import { LinkCard } from "./link-card.tsx";
import classes from "./link-settings.module.css";
import type { LinkSubject } from "./link-subject.ts";

const refusals: Readonly<Record<LinkTarget["kind"], MessageDescriptor>> = {
  recording: msg`Only the recording's owners and admins can manage its links.`,
  highlight: msg`Only the recording's owners and admins can share this highlight with a link.`,
  story: msg`Only users who can edit the story can manage its links.`,
};

const offers: Readonly<Record<LinkTarget["kind"], MessageDescriptor>> = {
  recording: msg`Not shared outside. Create a link to share it.`,
  highlight: msg`Not shared outside. Anyone with the link sees only this clip.`,
  story: msg`Not shared outside. Anyone with the link can see this story.`,
};

/** What a new link of a story would not show. Existing links show this themselves. */
function warningOf({ links, highlights, shareable }: LinkList): string | null {
  if (highlights === undefined || shareable === undefined) return null;
  if (highlights === 0) return t`This story is empty. A link shows nothing until you add highlights.`;
  if (links.length > 0 || shareable === highlights) return null;
  if (shareable === 0)
    return t`A link created by you shows nothing of this story. Others are hidden until their owners approve sharing.`;
  return plural(highlights, {
    one: `A link created by you shows ${shareable} of the # highlight. Others are hidden until their owners approve sharing.`,
    other: `A link created by you shows ${shareable} of the # highlights. Others are hidden until their owners approve sharing.`,
  });
}

/** Creates, copies, configures and deletes public links. Every change applies immediately. */
export function LinkManager(subject: LinkSubject) {
  const { t } = useLingui();
  const { target } = subject;
  const query = useQuery(linksQuery(target));
  const addButton = useRef<HTMLButtonElement>(null);
  const add = useAction({
    run: () => createLink(target),
    done: t`Link created`,
    refresh: [["links"], ["stories"]],
  });
  if (query.data === undefined) {
    if (!query.isError) return <Skeleton height={96} radius="md" />;
    const isRefused = query.error instanceof ApiError && query.error.status === 403;
    return isRefused ? (
      <Text size="sm" c="dimmed">
        {t(refusals[target.kind])}
      </Text>
    ) : (
      <Alert color="red" variant="light" role="alert">
        {errorText(query.error)}
      </Alert>
    );
  }
  const { links } = query.data;
  const warning = warningOf(query.data);
  return (
    <Stack gap="sm">
      {warning === null ? null : (
        <Alert variant="light" color="yellow" p="xs" c="bright" role="status">
          {warning}
        </Alert>
      )}
      {links.length === 0 ? (
        <Text size="sm">{t(offers[target.kind])}</Text>
      ) : (
        <ul className={classes.list} aria-label={t`Public links`}>
          {links.map((link, index) => (
            <li key={link.id}>
              <LinkCard
                link={link}
                number={index + 1}
                subject={subject}
                onGone={() => addButton.current?.focus()}
              />
            </li>
          ))}
        </ul>
      )}
      <Group>
        <Button
          ref={addButton}
          variant={links.length === 0 ? "filled" : "light"}
          size="sm"
          leftSection={<IconPlus size={16} aria-hidden />}
          loading={add.isPending}
          onClick={() => add.mutate()}
        >
          {links.length === 0 ? t`Create link` : t`Add link`}
        </Button>
      </Group>
    </Stack>
  );
}
