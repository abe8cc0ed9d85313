import { useLingui } from "@lingui/react/macro";
import { ActionIcon, CloseButton, Group, Text, TextInput } from "@mantine/core";
import { IconChevronDown, IconChevronUp, IconSearch } from "@tabler/icons-react";
import type { RefObject } from "react";
import type { Finding } from "./use-find.ts";

/** Searches the transcript, with the number of matches and buttons to step through them. */
export function FindBar(props: { finding: Finding; field: RefObject<HTMLInputElement | null> }) {
  const { t } = useLingui();
  const { finding, field } = props;
  const { query, setQuery, hits, index, step } = finding;
  const isAsked = query.trim() !== "";
  return (
    <Group gap={4} wrap="nowrap" flex={1} miw={0}>
      <TextInput
        ref={field}
        flex={1}
        miw={90}
        size="sm"
        type="text"
        role="searchbox"
        aria-label={t`Search transcript`}
        placeholder={t`Search transcript`}
        leftSection={<IconSearch size={16} stroke={1.6} aria-hidden />}
        rightSection={
          query === "" ? null : (
            <CloseButton size="sm" aria-label={t`Clear search`} onClick={() => setQuery("")} />
          )
        }
        value={query}
        onChange={(event) => setQuery(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
          else if (event.key === "Escape") {
            setQuery("");
            event.currentTarget.blur();
          } else return;
          event.preventDefault();
        }}
      />
      <Text size="sm" c="dimmed" role="status" style={{ fontVariantNumeric: "tabular-nums" }}>
        {!isAsked
          ? ""
          : hits.length === 0
            ? t`No results`
            : t`${{ number: index + 1 }} of ${{ count: hits.length }}`}
      </Text>
      {isAsked ? (
        <>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t`Previous match`}
            disabled={hits.length === 0}
            onClick={() => step(-1)}
          >
            <IconChevronUp size={18} />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={t`Next match`}
            disabled={hits.length === 0}
            onClick={() => step(1)}
          >
            <IconChevronDown size={18} />
          </ActionIcon>
        </>
      ) : null}
    </Group>
  );
}
