import { Alert, Button, Group, Skeleton, Stack, Text } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { ApiError } from "../api/client.ts";
import { type LinkList, type LinkTarget, linksQuery, makeLink } from "../api/links.ts";
import { errorText, useAction } from "../common/actions.tsx";
import { LinkCard } from "./link-card.tsx";
import type { Linked } from "./linked.ts";
import classes from "./links.module.css";

const refusals: Readonly<Record<LinkTarget["kind"], string>> = {
  recording: "Those who recorded it, and admins, make and take back its links.",
  highlight:
    "A link shows this part to anyone who has it. Only those who may share the recording can make one: those who recorded it, and admins.",
  story: "Only those who may edit the story make and take back its links.",
};

const offers: Readonly<Record<LinkTarget["kind"], string>> = {
  recording: "There is no link at the moment, so nobody outside can see it.",
  highlight:
    "Nobody outside can see it yet. A link shows this part of the recording, and nothing else of it, to anyone who has it.",
  story: "Nobody outside can see it yet. A link shows the story to anyone who has it.",
};

/** What a link of a story would not show, said before one is made; with a link, the link says it. */
function warningOf({ links, highlights, shareable }: LinkList): string | null {
  if (highlights === undefined || shareable === undefined) return null;
  if (highlights === 0) return "This story is empty. A link shows nothing until highlights are put into it.";
  if (links.length > 0 || shareable === highlights) return null;
  const [shown, others, them] =
    shareable === 0
      ? ["nothing of this story", "its highlights are of recordings", "them"]
      : highlights - shareable === 1
        ? [`${shareable} of the ${highlights} highlights`, "the other is of a recording", "it"]
        : [`${shareable} of the ${highlights} highlights`, "the others are of recordings", "them"];
  return `A link that you make shows ${shown}: ${others} that you may not share. Once there is a link, those who recorded ${them}, and admins, can agree to show ${them}.`;
}

/** The public links of something: made, copied, set and taken back. Every change counts at once. */
export function LinkManager(linked: Linked) {
  const { target } = linked;
  const query = useQuery(linksQuery(target));
  const make = useRef<HTMLButtonElement>(null);
  const add = useAction({
    run: () => makeLink(target),
    done: "The link is there",
    refresh: [["links"], ["stories"]],
  });
  if (query.data === undefined) {
    if (!query.isError) return <Skeleton height={96} radius="md" />;
    const isRefused = query.error instanceof ApiError && query.error.status === 403;
    return isRefused ? (
      <Text size="sm" c="dimmed">
        {refusals[target.kind]}
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
        <Text size="sm">{offers[target.kind]}</Text>
      ) : (
        <ul className={classes.list} aria-label="Public links">
          {links.map((link, place) => (
            <li key={link.id}>
              <LinkCard link={link} number={place + 1} linked={linked} onGone={() => make.current?.focus()} />
            </li>
          ))}
        </ul>
      )}
      <Group>
        <Button
          ref={make}
          variant={links.length === 0 ? "filled" : "light"}
          size="sm"
          leftSection={<IconPlus size={16} aria-hidden />}
          loading={add.isPending}
          onClick={() => add.mutate()}
        >
          {links.length === 0 ? "Make a link" : "Make another link"}
        </Button>
      </Group>
    </Stack>
  );
}
