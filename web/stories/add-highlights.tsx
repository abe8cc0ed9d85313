import { Button, Checkbox, Group, Stack, Text, VisuallyHidden } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { highlightsQuery } from "../api/highlights.ts";
import { LoadMore } from "../common/endless.tsx";
import { EmptyState, ErrorState } from "../common/states.tsx";
import { clock, dayAndTime } from "../common/time.ts";
import { TypedFilter } from "../common/typed-filter.tsx";
import classes from "./stories.module.css";

/** As many as a story holds. */
const mostHighlights = 200;

/** Chooses among the highlights of all recordings; what is in the story already can't be chosen again. */
export function AddHighlights(props: {
  there: readonly string[];
  isSaving: boolean;
  onAdd: (highlightIds: readonly string[]) => void;
}) {
  const { there, isSaving, onAdd } = props;
  const [text, setText] = useState<string | undefined>(undefined);
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const left = mostHighlights - there.length - chosen.length;
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
          label="Find in highlights"
          placeholder="Find in highlights"
          icon={<IconSearch size={16} aria-hidden />}
          value={text ?? ""}
          onChange={setText}
        />
        <Choices text={text} there={there} chosen={chosen} isFull={left <= 0} onToggle={toggle} />
        <Group justify="space-between">
          <Text size="sm" c="dimmed" role="status">
            {left <= 0
              ? `A story has at most ${mostHighlights} highlights.`
              : chosen.length === 0
                ? "Nothing chosen yet"
                : `${chosen.length} chosen`}
          </Text>
          <Button type="submit" disabled={chosen.length === 0} loading={isSaving}>
            Add to the story
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Choices(props: {
  text: string | undefined;
  there: readonly string[];
  chosen: readonly string[];
  isFull: boolean;
  onToggle: (id: string) => void;
}) {
  const { text, there, chosen, isFull, onToggle } = props;
  const query = useInfiniteQuery(highlightsQuery({ text }));
  if (query.isPending)
    return (
      <div className={classes.choices} aria-busy="true">
        <VisuallyHidden role="status">Loading highlights</VisuallyHidden>
      </div>
    );
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const highlights = query.data.pages.flatMap((page) => page.highlights);
  if (highlights.length === 0)
    return (
      <EmptyState title={text === undefined ? "No highlights yet" : "No highlight fits"}>
        {text === undefined
          ? "Mark what matters in a recording: select words in its transcript and press Clip."
          : "Try other words."}
      </EmptyState>
    );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by the keyboard.
    <section className={classes.choices} tabIndex={0} aria-label="Highlights">
      {highlights.map(({ id, text: words, duration, thumbnail_url, recording }) => {
        const isThere = there.includes(id);
        return (
          <Checkbox.Card
            key={id}
            className={classes.choice ?? ""}
            checked={isThere || chosen.includes(id)}
            disabled={isThere || (isFull && !chosen.includes(id))}
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
                  isThere ? "In this story" : clock(duration),
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
