import { Trans, useLingui } from "@lingui/react/macro";
import { Badge, Stack, Text, Title, VisuallyHidden } from "@mantine/core";
import { IconSparkles } from "@tabler/icons-react";
import type { Point } from "../../../contract/recordings/points.ts";
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
import { Moment, Points } from "./points.tsx";

/** The summary and template sections written by the language model. */
export function SummaryPanel() {
  const { t } = useLingui();
  const { recording, can, summary_points: points, section_points: proofs } = useRecording().view;
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
          <VisuallyHidden component="h2">
            <Trans>Summary</Trans>
          </VisuallyHidden>
          {points === null ? <Markdown text={text} /> : <Points points={points} />}
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
          <SectionData data={data} points={proofs[i] ?? null} />
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

/**
 * Renders a section by its fields: Markdown, lists, a table, or name and value.
 * @param props.points the proofs of its points, items or rows; null: not known.
 */
function SectionData(props: { data: Readonly<Record<string, unknown>>; points: readonly Point[] | null }) {
  const { data, points } = props;
  const { kind, columns, rows } = data;
  if (kind === "text" && points !== null) return <Points points={points} />;
  if (isTexts(columns) && Array.isArray(rows)) return <Rows columns={columns} rows={rows} points={points} />;
  return (
    <Stack gap="xs">
      {Object.entries(data)
        .filter(([name]) => name !== "kind")
        .map(([name, value]) => (
          <Value key={name} name={name} value={value} points={points} />
        ))}
    </Stack>
  );
}

function Value(props: { name: string; value: unknown; points: readonly Point[] | null }) {
  const { name, value, points } = props;
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
            <ItemView item={item} /> <Moment point={points?.[i]} />
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

function Rows(props: {
  columns: readonly string[];
  rows: readonly unknown[];
  points: readonly Point[] | null;
}) {
  const { columns, rows, points } = props;
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
            {points === null ? null : (
              <th scope="col">
                <VisuallyHidden>
                  <Trans>Moment</Trans>
                </VisuallyHidden>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity.
            <tr key={i}>
              {columns.map((column, k) => (
                <td key={column}>{cellOf(row, column, k)}</td>
              ))}
              {points === null ? null : (
                <td>
                  <Moment point={points[i]} />
                </td>
              )}
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
