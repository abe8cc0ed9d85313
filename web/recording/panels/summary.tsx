import { Badge, Stack, Text, Title } from "@mantine/core";
import { IconSparkles } from "@tabler/icons-react";
import { isUnderWay } from "../../api/intelligence.ts";
import { EmptyState } from "../../common/states.tsx";
import { useRecording } from "../context.ts";
import { Markdown } from "./markdown.tsx";
import classes from "./panels.module.css";
import { UnderstandingLine, useUnderstanding } from "./understanding.tsx";

/** What the language model wrote: the summary, and the workspace's own sections. */
export function SummaryPanel() {
  const { recording } = useRecording().view;
  const text = recording.ai_summary?.text ?? "";
  const sections = recording.ai_template_sections ?? [];
  const state = useUnderstanding();
  if (text.trim() === "" && sections.length === 0)
    return (
      <>
        <UnderstandingLine state={state} />
        <EmptyState title="No summary" icon={<IconSparkles size={30} stroke={1.5} />}>
          {state !== undefined && isUnderWay(state)
            ? "It appears here by itself."
            : "A language model writes one when one is set up on this server."}
        </EmptyState>
      </>
    );
  return (
    <Stack gap="lg">
      <UnderstandingLine state={state} />
      {text.trim() === "" ? null : <Markdown text={text} />}
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

/** Sections differ in their fields: texts as Markdown, lists as lists, rows as a table, the rest by name. */
function SectionData({ data }: { data: Readonly<Record<string, unknown>> }) {
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
    if (value.length === 0) return <Text c="dimmed">None</Text>;
    return (
      <ul style={{ margin: 0, paddingInlineStart: 20 }}>
        {value.map((item, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same text may come twice.
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

/** One of a list: a text, something to tick, a question with its answer, or whatever a section of one's own has. */
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
          <Badge ml={8} size="sm" variant="light" tt="none">
            Done
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, what is wider than the panel is out of reach of the keys.
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
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have nothing else that tells them apart.
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
