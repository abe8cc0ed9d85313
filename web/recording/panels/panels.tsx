import { Badge, Tabs } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import type { Transcript } from "../../api/recording.ts";
import { useRecording } from "../context.ts";
import { ActionItemsPanel } from "./action-items.tsx";
import { DetailsPanel } from "./details.tsx";
import { HighlightsPanel } from "./highlights.tsx";
import { NotesPanel } from "./notes.tsx";
import classes from "./panels.module.css";
import { PeoplePanel } from "./people.tsx";
import { SummaryPanel } from "./summary.tsx";

/**
 * Everything beside the words, one panel at a time.
 * @param words the transcript, where it has no column of its own.
 */
export function Panels(props: {
  transcript: Transcript | undefined;
  words: ReactNode;
  /** null until somebody chooses. */
  tab: string | null;
  onTab: (tab: string | null) => void;
}) {
  const { transcript, words, tab: chosen, onTab } = props;
  const { view } = useRecording();
  const { recording } = view;
  const open = (recording.ai_action_items ?? []).filter(({ status }) => status === "pending").length;
  const hasSummary =
    (recording.ai_summary?.text ?? "") !== "" || (recording.ai_template_sections ?? []).length > 0;
  const first = words !== null ? "transcript" : hasSummary ? "summary" : "people";
  const shown = chosen === null || (words === null && chosen === "transcript") ? first : chosen;
  const box = useRef<HTMLDivElement>(null);
  const isBelow = words === null && chosen !== null && chosen !== "transcript";
  // biome-ignore lint/correctness/useExhaustiveDependencies: each choice brings its panel into view.
  useEffect(() => {
    // Below the player there is often no room for more than the tabs: what was chosen would stay unseen.
    if (isBelow) box.current?.scrollIntoView({ block: "nearest" });
  }, [isBelow, chosen]);
  return (
    <Tabs
      ref={box}
      className={classes.panels ?? ""}
      value={shown}
      onChange={onTab}
      keepMounted={false}
      data-words={words !== null || undefined}
    >
      <Tabs.List className={classes.tabs ?? ""} aria-label="About this recording">
        {words === null ? null : <Tabs.Tab value="transcript">Transcript</Tabs.Tab>}
        <Tabs.Tab value="summary">Summary</Tabs.Tab>
        <Tabs.Tab value="actions" {...counted(open)}>
          Action items
        </Tabs.Tab>
        <Tabs.Tab value="highlights" {...counted(recording.highlights?.length ?? 0)}>
          Highlights
        </Tabs.Tab>
        <Tabs.Tab value="notes">Notes</Tabs.Tab>
        <Tabs.Tab value="people">People</Tabs.Tab>
        <Tabs.Tab value="details">Details</Tabs.Tab>
      </Tabs.List>
      {words === null ? null : (
        <Tabs.Panel value="transcript" className={classes.words ?? ""}>
          {words}
        </Tabs.Panel>
      )}
      <Tabs.Panel value="summary" className={classes.panel ?? ""} tabIndex={0}>
        <SummaryPanel />
      </Tabs.Panel>
      <Tabs.Panel value="actions" className={classes.panel ?? ""} tabIndex={0}>
        <ActionItemsPanel />
      </Tabs.Panel>
      <Tabs.Panel value="highlights" className={classes.panel ?? ""} tabIndex={0}>
        <HighlightsPanel />
      </Tabs.Panel>
      <Tabs.Panel value="notes" className={classes.panel ?? ""} tabIndex={0}>
        <NotesPanel />
      </Tabs.Panel>
      <Tabs.Panel value="people" className={classes.panel ?? ""} tabIndex={0}>
        <PeoplePanel transcript={transcript} />
      </Tabs.Panel>
      <Tabs.Panel value="details" className={classes.panel ?? ""} tabIndex={0}>
        <DetailsPanel />
      </Tabs.Panel>
    </Tabs>
  );
}

function counted(count: number): { rightSection?: ReactNode } {
  if (count === 0) return {};
  return {
    rightSection: (
      <Badge variant="light" size="sm" px={6}>
        {count}
      </Badge>
    ),
  };
}
