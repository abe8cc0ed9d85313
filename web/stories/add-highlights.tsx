import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Checkbox, Group, Stack, Text, VisuallyHidden } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { highlightsQuery } from "../api/highlights.ts";
import { clock, dayAndTime } from "../common/format/time.ts";
import { LoadMore } from "../common/lists/load-more.tsx";
import { TypedFilter } from "../common/lists/typed-filter.tsx";
import { EmptyState, ErrorState } from "../common/states.tsx";
import classes from "./stories.module.css";

/** The API's limit per story. */
const maxHighlights = 200;

/** Selects highlights of all recordings; those already in the story are disabled. */
export function AddHighlights(props: {
  included: readonly string[];
  isSaving: boolean;
  onAdd: (highlightIds: readonly string[]) => void;
}) {
  const { t } = useLingui();
  const { included, isSaving, onAdd } = props;
  const [text, setText] = useState<string | undefined>(undefined);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const remaining = maxHighlights - included.length - chosen.length;
  const toggle = (id: string): void =>
    setChosen(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen.length > 0) onAdd(chosen);
      }}
    >
      <Stack gap="sm">
        <TypedFilter
          label={t`Search highlights`}
          placeholder={t`Search highlights`}
          icon={<IconSearch size={16} aria-hidden />}
          value={text ?? ""}
          onChange={setText}
        />
        <Choices text={text} included={included} chosen={chosen} isFull={remaining <= 0} onToggle={toggle} />
        <Group justify="space-between">
          <Text size="sm" c="dimmed" role="status">
            {remaining <= 0
              ? plural(maxHighlights, {
                  one: "A story can have up to # highlight.",
                  other: "A story can have up to # highlights.",
                })
              : chosen.length === 0
                ? t`None selected`
                : plural({ count: chosen.length }, { one: "# selected", other: "# selected" })}
          </Text>
          <Button type="submit" disabled={chosen.length === 0} loading={isSaving}>
            <Trans>Add to story</Trans>
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Choices(props: {
  text: string | undefined;
  included: readonly string[];
  chosen: readonly string[];
  isFull: boolean;
  onToggle: (id: string) => void;
}) {
  const { t } = useLingui();
  const { text, included, chosen, isFull, onToggle } = props;
  const query = useInfiniteQuery(highlightsQuery({ text }));
  if (query.isPending)
    return (
      <div className={classes.choices} aria-busy="true">
        <VisuallyHidden role="status">
          <Trans>Loading highlights</Trans>
        </VisuallyHidden>
      </div>
    );
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const highlights = query.data.pages.flatMap((page) => page.highlights);
  if (highlights.length === 0)
    return (
      <EmptyState title={text === undefined ? t`No highlights yet` : t`No matching highlights`}>
        {text === undefined
          ? t`Create highlights in a recording: select words in its transcript and choose Clip.`
          : t`Try other words.`}
      </EmptyState>
    );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
    <section className={classes.choices} tabIndex={0} aria-label={t`Highlights`}>
      {highlights.map(({ id, text: words, duration, thumbnail_url, recording }) => {
        const isIncluded = included.includes(id);
        return (
          <Checkbox.Card
            key={id}
            className={classes.choice ?? ""}
            checked={isIncluded || chosen.includes(id)}
            disabled={isIncluded || (isFull && !chosen.includes(id))}
            onClick={() => onToggle(id)}
          >
            <Checkbox.Indicator />
            <img src={thumbnail_url} alt="" loading="lazy" decoding="async" />
            <span className={classes.grow}>
              <Text span size="sm" fw={600} lineClamp={2} dir="auto">
                {words}
              </Text>
              <Text span size="xs" c="dimmed" display="block" className={classes.origin ?? ""} dir="auto">
                {[
                  isIncluded ? t`In this story` : clock(duration),
                  recording.title,
                  dayAndTime(recording.start_datetime),
                ].join(" · ")}
              </Text>
            </span>
          </Checkbox.Card>
        );
      })}
      <LoadMore query={query} />
    </section>
  );
}
