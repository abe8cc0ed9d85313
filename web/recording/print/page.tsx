import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Button, Center, Group, Loader } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { IconPrinter } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import type { z } from "zod";
import type { RecordingDocument } from "../../../contract/documents/document.ts";
import { documentParts, readDocumentParts } from "../../../contract/documents/document-parts.ts";
import { documentQuery } from "../../api/recording/document.ts";
import { Markdown } from "../../common/format/markdown.tsx";
import { namesInLine } from "../../common/format/names.ts";
import { clock, fullTime, lengthInWords } from "../../common/format/time.ts";
import { momentLink } from "../../common/recording-url.ts";
import { missingPartTexts, partTitles } from "./part-texts.ts";
import classes from "./print.module.css";

type Shown = z.output<typeof RecordingDocument>;

const route = getRouteApi("/signed-in/recordings/$recordingId/print");

/** A recording as a document: title, details and the parts chosen. */
export function PrintPage() {
  const { t } = useLingui();
  const { recordingId } = route.useParams();
  const { parts, print = false } = route.useSearch();
  const navigate = useNavigate();
  const { data: shown, error } = useQuery(
    documentQuery(recordingId, parts === undefined ? documentParts : readDocumentParts(parts)),
  );
  const isReady = shown !== undefined;
  useEffect(() => {
    if (!print || !isReady) return;
    // A reload doesn't print again.
    void navigate({
      to: "/recordings/$recordingId/print",
      params: { recordingId },
      search: parts === undefined ? {} : { parts },
      replace: true,
    }).then(() => window.print());
  }, [print, isReady, navigate, recordingId, parts]);
  useDocumentTitle(shown === undefined ? "Parley" : `${shown.title} · Parley`);
  if (shown === undefined && error !== null)
    return (
      <Alert color="red" title={t`Can't show the recording`}>
        {error.message}
      </Alert>
    );
  if (shown === undefined)
    return (
      <Center mih={320}>
        <Loader role="img" aria-label={t`Loading`} />
      </Center>
    );
  return (
    <>
      <Group className={classes.controls ?? ""} justify="space-between" mb="lg">
        <Link to="/recordings/$recordingId" params={{ recordingId }}>
          <Trans>Back to the recording</Trans>
        </Link>
        <Button
          leftSection={<IconPrinter size={18} stroke={1.6} aria-hidden />}
          onClick={() => window.print()}
        >
          <Trans>Print or save as PDF</Trans>
        </Button>
      </Group>
      <article className={classes.document} lang={shown.language ?? undefined}>
        <Heading shown={shown} />
        <Summary summary={shown.summary} />
        <ActionItems shown={shown} />
        <Moments title={t(partTitles.chapters)} moments={shown.chapters} url={shown.url} />
        <Moments title={t(partTitles.highlights)} moments={shown.highlights} url={shown.url} />
        <Transcript shown={shown} />
      </article>
    </>
  );
}

function Heading({ shown }: { shown: Shown }) {
  const { t } = useLingui();
  const { missing } = shown;
  return (
    <header>
      <h1 dir="auto">{shown.title}</h1>
      <p>
        {[fullTime(shown.start_datetime), lengthInWords(shown.duration_ms), shown.meeting_type]
          .filter((fact) => fact !== null)
          .join(" · ")}
      </p>
      {shown.people.length === 0 ? null : <p dir="auto">{namesInLine(shown.people, shown.people.length)}</p>}
      {shown.tags.length === 0 ? null : <p dir="auto">{shown.tags.map((tag) => `#${tag}`).join(" ")}</p>}
      <p>
        <a href={shown.url}>{shown.url}</a>
      </p>
      {missing.length === 0 ? null : <p>{missing.map((part) => t(missingPartTexts[part])).join(" ")}</p>}
    </header>
  );
}

function Summary({ summary }: Pick<Shown, "summary">) {
  const { t } = useLingui();
  if (summary === null) return null;
  return (
    <section>
      <h2>{t(partTitles.summary)}</h2>
      {summary.markdown === "" ? null : <Markdown text={summary.markdown} />}
      {summary.sections.map(({ title, markdown }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: sections have no id, and two may have one title.
        <section key={index}>
          <h3 dir="auto">{title}</h3>
          <Markdown text={markdown} />
        </section>
      ))}
    </section>
  );
}

function Moment({ url, ms }: { url: string; ms: number }) {
  return (
    <a className={classes.time} href={momentLink(url, ms)}>
      {clock(ms)}
    </a>
  );
}

function ActionItems({ shown: { action_items: items, url } }: { shown: Shown }) {
  const { t } = useLingui();
  if (items.length === 0) return null;
  return (
    <section>
      <h2>{t(partTitles.action_items)}</h2>
      <ul className={classes.items}>
        {items.map((item, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: items have no id.
          <li key={index} dir="auto">
            <span
              role="img"
              aria-label={
                item.is_done
                  ? t({ message: "Done", context: "task" })
                  : t({ message: "To do", context: "task" })
              }
            >
              {item.is_done ? "☑" : "☐"}
            </span>{" "}
            {item.text}
            {item.assignee === null ? null : (
              <>
                {" — "}
                <strong>{item.assignee}</strong>
              </>
            )}
            {item.due_date === null ? null : ` · ${t`due ${{ date: item.due_date }}`}`}{" "}
            <Moment url={url} ms={item.timestamp} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Moments(props: { title: string; moments: Shown["chapters"]; url: string }) {
  if (props.moments.length === 0) return null;
  return (
    <section>
      <h2>{props.title}</h2>
      <ul className={classes.items}>
        {props.moments.map(({ text, timestamp }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: moments never move.
          <li key={index} dir="auto">
            <Moment url={props.url} ms={timestamp} /> {text}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Transcript({ shown: { transcript, url } }: { shown: Shown }) {
  const { t } = useLingui();
  if (transcript.length === 0) return null;
  return (
    <section>
      <h2>{t(partTitles.transcript)}</h2>
      {transcript.map(({ speaker, timestamp, text }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: turns never move.
        <div key={index} className={classes.turn}>
          <p dir="auto">
            <strong>{speaker}</strong> <Moment url={url} ms={timestamp} />
          </p>
          <p dir="auto">{text}</p>
        </div>
      ))}
    </section>
  );
}
