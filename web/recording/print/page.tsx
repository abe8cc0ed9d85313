import { Alert, Button, Center, Group, Loader } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconPrinter } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { recordingQuery, type Segment, transcriptQuery, type View } from "../../api/recording/recording.ts";
import { Markdown } from "../../common/format/markdown.tsx";
import { clock, fullTime, lengthInWords } from "../../common/format/time.ts";
import { SectionData } from "../panels/summary.tsx";
import classes from "./print.module.css";

const route = getRouteApi("/signed-in/recordings/$recordingId/print");

/** A recording as a document: title, details, summary and the whole transcript. */
export function PrintPage() {
  const { recordingId } = route.useParams();
  const recording = useQuery(recordingQuery(recordingId));
  const transcript = useQuery(transcriptQuery(recordingId));
  useDocumentTitle(recording.data === undefined ? "Parley" : `${recording.data.recording.title} · Parley`);
  const error = recording.error ?? transcript.error;
  if (error !== null)
    return (
      <Alert color="red" title="Can't show the recording">
        {error.message}
      </Alert>
    );
  if (recording.data === undefined || transcript.data === undefined)
    return (
      <Center mih={320}>
        <Loader role="img" aria-label="Loading" />
      </Center>
    );
  return (
    <>
      <Group className={classes.controls ?? ""} justify="space-between" mb="lg">
        <Link to="/recordings/$recordingId" params={{ recordingId }}>
          Back to the recording
        </Link>
        <Button leftSection={<IconPrinter size={18} stroke={1.6} />} onClick={() => window.print()}>
          Print
        </Button>
      </Group>
      <article className={classes.document}>
        <Heading view={recording.data} />
        <Summary view={recording.data} />
        <Transcript segments={transcript.data.segments} />
      </article>
    </>
  );
}

function Heading({ view }: { view: View }) {
  const { recording, participants } = view;
  const names = participants.map(({ name }) => name).join(", ");
  return (
    <header>
      <h1 dir="auto">{recording.title}</h1>
      <p>
        {fullTime(recording.start_datetime)} · {lengthInWords(recording.duration_ms)}
      </p>
      {names === "" ? null : <p dir="auto">{names}</p>}
    </header>
  );
}

function Summary({ view }: { view: View }) {
  const text = view.recording.ai_summary?.text.trim() ?? "";
  const sections = view.recording.ai_template_sections ?? [];
  const items = view.recording.ai_action_items ?? [];
  return (
    <>
      {text === "" ? null : (
        <section>
          <h2>Summary</h2>
          <Markdown text={text} />
        </section>
      )}
      {view.chapters.length === 0 ? null : (
        <section>
          <h2>Chapters</h2>
          <ol>
            {view.chapters.map(({ title, start }) => (
              <li key={start} dir="auto">
                {clock(start)} {title}
              </li>
            ))}
          </ol>
        </section>
      )}
      {sections.map(({ title, data }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: sections have no id, and two may have one title.
        <section key={index}>
          <h2 dir="auto">{title}</h2>
          <SectionData data={data} />
        </section>
      ))}
      {items.length === 0 ? null : (
        <section>
          <h2>Action items</h2>
          <ul>
            {items.map((item, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: items have no id.
              <li key={index} dir="auto">
                {item.assignee === null ? item.text : `${item.assignee.name}: ${item.text}`}
                {item.status === "completed" ? " (done)" : ""}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** One paragraph for what a speaker says in a row. */
function Transcript({ segments }: { segments: readonly Segment[] }) {
  if (segments.length === 0) return null;
  const turns: { readonly speaker: string; readonly start: number; readonly texts: string[] }[] = [];
  for (const { speaker, start, text } of segments) {
    const last = turns.at(-1);
    if (last?.speaker === speaker) last.texts.push(text);
    else turns.push({ speaker, start, texts: [text] });
  }
  return (
    <section>
      <h2>Transcript</h2>
      {turns.map(({ speaker, start, texts }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: turns never move.
        <p key={index} className={classes.turn} dir="auto">
          <strong>{speaker}</strong> <span className={classes.time}>{clock(start)}</span>
          <br />
          {texts.join(" ")}
        </p>
      ))}
    </section>
  );
}
