import { Trans, useLingui } from "@lingui/react/macro";
import { Badge, Tabs } from "@mantine/core";
import type { ReactNode } from "react";
import type { Transcript } from "../../api/recording/recording.ts";
import { number } from "../../common/format/numbers.ts";
import { lazyPart } from "../../common/load-part.tsx";
import { type RecordingTab, tabOf } from "../../common/recording-url.ts";
import { useRecording } from "../context.ts";
import { NotesPanel } from "./notes.tsx";
import classes from "./panels.module.css";

/** Panels that are not open initially are loaded when their tab is chosen. */
const SummaryPanel = lazyPart(async () => (await import("./summary.tsx")).SummaryPanel);
const ActionItemsPanel = lazyPart(async () => (await import("./action-items.tsx")).ActionItemsPanel);
const HighlightsPanel = lazyPart(async () => (await import("./highlights.tsx")).HighlightsPanel);
const CommentsPanel = lazyPart(async () => (await import("./comments/panel.tsx")).CommentsPanel);
const ParticipantsPanel = lazyPart(async () => (await import("./participants.tsx")).ParticipantsPanel);
const DetailsPanel = lazyPart(async () => (await import("./details.tsx")).DetailsPanel);

/** The tabs next to the player, or below it where there is no room. */
export function Panels(props: {
  transcript: Transcript | undefined;
  transcriptPane: ReactNode;
  tab: RecordingTab;
  onTab: (tab: RecordingTab) => void;
}) {
  const { t } = useLingui();
  const { transcript, transcriptPane, tab, onTab } = props;
  const { view, openThreads } = useRecording();
  const { recording } = view;
  const open = (recording.ai_action_items ?? []).filter(({ status }) => status === "pending").length;
  return (
    <Tabs
      className={classes.panels ?? ""}
      value={tab}
      onChange={(value) => {
        const chosen = tabOf(value);
        if (chosen !== undefined) onTab(chosen);
      }}
      keepMounted={false}
    >
      <Tabs.List className={classes.tabs ?? ""} aria-label={t`About this recording`}>
        <Tabs.Tab value="transcript">
          <Trans>Transcript</Trans>
        </Tabs.Tab>
        <Tabs.Tab value="summary">
          <Trans context="tab">Summary</Trans>
        </Tabs.Tab>
        <Tabs.Tab value="actions" {...counted(open)}>
          <Trans>Action items</Trans>
        </Tabs.Tab>
        <Tabs.Tab value="highlights" {...counted(recording.highlights?.length ?? 0)}>
          <Trans>Highlights</Trans>
        </Tabs.Tab>
        <Tabs.Tab value="comments" {...counted(openThreads.length)}>
          <Trans>Comments</Trans>
        </Tabs.Tab>
        <Tabs.Tab value="notes">
          <Trans>Notes</Trans>
        </Tabs.Tab>
        <Tabs.Tab value="people">
          <Trans>People</Trans>
        </Tabs.Tab>
        <Tabs.Tab value="details">
          <Trans>Details</Trans>
        </Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="transcript" className={classes.words ?? ""}>
        {transcriptPane}
      </Tabs.Panel>
      <Tabs.Panel value="summary" className={classes.panel ?? ""} tabIndex={0}>
        <SummaryPanel />
      </Tabs.Panel>
      <Tabs.Panel value="actions" className={classes.panel ?? ""} tabIndex={0}>
        <ActionItemsPanel />
      </Tabs.Panel>
      <Tabs.Panel value="highlights" className={classes.panel ?? ""} tabIndex={0}>
        <HighlightsPanel />
      </Tabs.Panel>
      <Tabs.Panel value="comments" className={classes.panel ?? ""} tabIndex={0}>
        <CommentsPanel />
      </Tabs.Panel>
      <Tabs.Panel value="notes" className={classes.panel ?? ""} tabIndex={0}>
        <NotesPanel />
      </Tabs.Panel>
      <Tabs.Panel value="people" className={classes.panel ?? ""} tabIndex={0}>
        <ParticipantsPanel transcript={transcript} />
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
        {number(count)}
      </Badge>
    ),
  };
}
