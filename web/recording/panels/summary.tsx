import { Trans, useLingui } from "@lingui/react/macro";
import { Badge, Stack, Text, Title } from "@mantine/core";
import { IconSparkles } from "@tabler/icons-react";
import { saveSummaryFeedback } from "../../api/feedback.ts";
import {
  type IntelligenceState,
  intelligenceStateQuery,
  isInProgress,
} from "../../api/recording/intelligence.ts";
import { useModelState } from "../../ask/model-missing.tsx";
import { Markdown } from "../../common/format/markdown.tsx";
import { FeedbackThumbs } from "../../common/forms/feedback-thumbs.tsx";
import { EmptyState } from "../../common/states.tsx";
import { useRecording } from "../context.ts";
import { Chapters } from "./chapters.tsx";
import { IntelligenceStatus, Reason, RunModel, useIntelligenceState } from "./intelligence-status.tsx";
import classes from "./panels.module.css";

/** The summary and template sections written by the language model. */
export function SummaryPanel() {
  const { t } = useLingui();
  const { recording, can } = useRecording().view;
  const model = useModelState();
  const text = recording.ai_summary?.text ?? "";
  const sections = recording.ai_template_sections ?? [];
  const state = useIntelligenceState();
  if (text.trim() === "" && sections.length === 0)
    return (
      <>
        <IntelligenceStatus state={state} />
        <EmptyState
          title={t`No summary`}
          icon={<IconSparkles size={30} stroke={1.5} />}
          action={
            state?.status === "none" && model === "ready" && can.change ? (
              <RunModel text={t`Write summary`} />
            ) : null
          }
        >
          {state !== undefined && isInProgress(state) ? t`It will appear here.` : <Reason state={state} />}
        </EmptyState>
        <Chapters />
      </>
    );
  return (
    <Stack gap="lg">
      <IntelligenceStatus state={state} />
      {text.trim() === "" ? null : (
        <div>
          <Markdown text={text} />
          <SummaryFeedback state={state} />
        </div>
      )}
      <Chapters />
      {sections.map(({ title, data }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: sections have no id, and two may have one title.
        <section key={i}>
          <Title order={3} size="h4" mb="xs" dir="auto">
            {title}
          </Title>
          <SectionData data={data} />
        </section>
      ))}
    </Stack>
  );
}

/** Only what a language model wrote can be rated; an imported summary has no model. */
function SummaryFeedback({ state }: { state: IntelligenceState | undefined }) {
  const { id } = useRecording();
  if (state === undefined || state.model === null) return null;
  return (
    <FeedbackThumbs
      key={state.finished_datetime}
      subject="summary"
      given={state.feedback}
      save={(feedback) => saveSummaryFeedback(id, feedback)}
      refresh={[intelligenceStateQuery(id).queryKey]}
    />
  );
}

/** Renders a section by its fields: Markdown, lists, a table, or name and value. */
export function SectionData({ data }: { data: Readonly<Record<string, unknown>> }) {
  const { columns, rows } = data;
  if (isTexts(columns) && Array.isArray(rows)) return <Rows columns={columns} rows={rows} />;
  return (
    <Stack gap="xs">
      {Object.entries(data)
        .filter(([name]) => name !== "kind")
        .map(([name, value]) => (
          <Value key={name} name={name} value={value} />
        ))}
    </Stack>
  );
}

function Value({ name, value }: { name: string; value: unknown }) {
  if (typeof value === "string") return <Markdown text={value} />;
  if (Array.isArray(value)) {
    if (value.length === 0)
      return (
        <Text c="dimmed">
          <Trans context="list">None</Trans>
        </Text>
      );
    return (
      <ul style={{ margin: 0, paddingInlineStart: 20 }}>
        {value.map((item, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same text may occur twice.
          <li key={i} dir="auto">
            <ItemView item={item} />
          </li>
        ))}
      </ul>
    );
  }
  if (value === null || value === undefined) return null;
  return (
    <Text>
      {name}: {typeof value === "object" ? JSON.stringify(value) : String(value)}
    </Text>
  );
}

/** A list item: a text, a checklist entry, a question with its reply, or any other object. */
function ItemView({ item }: { item: unknown }) {
  if (typeof item !== "object" || item === null) return String(item);
  const { text, question, answer, checked, done } = item as Record<string, unknown>;
  if (typeof question === "string")
    return (
      <>
        <strong>{question}</strong>
        <br />
        {typeof answer === "string" ? answer : "—"}
      </>
    );
  if (typeof text === "string")
    return (
      <>
        {text}
        {checked === true || done === true ? (
          <Badge ms={8} size="sm" variant="light" tt="none">
            <Trans context="task">Done</Trans>
          </Badge>
        ) : null}
      </>
    );
  return Object.values(item)
    .filter((part) => typeof part === "string" || typeof part === "number")
    .join(" · ");
}

function Rows({ columns, rows }: { columns: readonly string[]; rows: readonly unknown[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard.
    <div className={classes.tableBox} tabIndex={0}>
      <table className={classes.table}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity.
            <tr key={i}>
              {columns.map((column, k) => (
                <td key={column}>{cellOf(row, column, k)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function cellOf(row: unknown, column: string, index: number): string {
  const cell = Array.isArray(row) ? row[index] : (row as Record<string, unknown> | null)?.[column];
  return cell === null || cell === undefined ? "" : String(cell);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
