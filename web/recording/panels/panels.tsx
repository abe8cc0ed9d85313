import { Badge, Tabs } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import type { Transcript } from "../../api/recording.ts";
import { lazyPart } from "../../common/load-part.tsx";
import { useRecording } from "../context.ts";
import { NotesPanel } from "./notes.tsx";
import classes from "./panels.module.css";
import { PeoplePanel } from "./people.tsx";
import { SummaryPanel } from "./summary.tsx";

/** Panels that are not open initially are loaded when their tab is chosen. */
const ActionItemsPanel = lazyPart(async () => (await import("./action-items.tsx")).ActionItemsPanel);
const HighlightsPanel = lazyPart(async () => (await import("./highlights.tsx")).HighlightsPanel);
const DetailsPanel = lazyPart(async () => (await import("./details.tsx")).DetailsPanel);

/**
 * The tabs next to or around the transcript.
 * @param transcriptPane where it has no column of its own.
 */
export function Panels(props: {
  transcript: Transcript | undefined;
  transcriptPane: ReactNode;
  /** null until the user chooses. */
  tab: string | null;
  onTab: (tab: string | null) => void;
}) {
  const { transcript, transcriptPane, tab: chosen, onTab } = props;
  const { view } = useRecording();
  const { recording } = view;
  const open = (recording.ai_action_items ?? []).filter(({ status }) => status === "pending").length;
  const hasSummary =
    (recording.ai_summary?.text ?? "") !== "" || (recording.ai_template_sections ?? []).length > 0;
  const first = transcriptPane !== null ? "transcript" : hasSummary ? "summary" : "people";
  const shown = chosen === null || (transcriptPane === null && chosen === "transcript") ? first : chosen;
  const box = useRef<HTMLDivElement>(null);
  const isBelow = transcriptPane === null && chosen !== null && chosen !== "transcript";
  // biome-ignore lint/correctness/useExhaustiveDependencies: each choice scrolls its panel into view.
  useEffect(() => {
    // Below the player often only the tabs are visible; the chosen panel would stay out of view.
    if (isBelow) box.current?.scrollIntoView({ block: "nearest" });
  }, [isBelow, chosen]);
  return (
    <Tabs
      ref={box}
      className={classes.panels ?? ""}
      value={shown}
      onChange={onTab}
      keepMounted={false}
      data-words={transcriptPane !== null || undefined}
    >
      <Tabs.List className={classes.tabs ?? ""} aria-label="About this recording">
        {transcriptPane === null ? null : <Tabs.Tab value="transcript">Transcript</Tabs.Tab>}
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
      {transcriptPane === null ? null : (
        <Tabs.Panel value="transcript" className={classes.words ?? ""}>
          {transcriptPane}
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
