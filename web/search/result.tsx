import { Trans, useLingui } from "@lingui/react/macro";
import { Badge, Button, Loader, Skeleton, Text } from "@mantine/core";
import { IconChevronDown, IconHighlight, IconUser } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type FoundRecording, type Hit, hitsQuery } from "../api/library/search.ts";
import { errorText } from "../common/actions.tsx";
import { clock, day, fullTime, lengthInWords } from "../common/format/time.ts";
import { mediaTypes } from "../common/media-types.ts";
import { Picture } from "../common/picture.tsx";
import { secondsOf } from "../common/recording-url.ts";
import { Marked } from "./marked.tsx";
import classes from "./search.module.css";
import type { SearchParams } from "./search-params.ts";

/** A result includes this many transcript matches; if it has all of them, there may be more. */
const shownMoments = 3;

/** A recording with its matches. */
export function Result({ result, search }: { result: FoundRecording; search: SearchParams }) {
  const { t } = useLingui();
  const { recording } = result;
  const recordingTitle = recording.title;
  const [showsAll, setShowsAll] = useState(false);
  const title = result.hits.find(({ kind }) => kind === "title");
  const moments = result.hits.filter(({ timestamp }) => timestamp !== null);
  const transcript = moments.filter(({ kind }) => kind === "transcript");
  const find = matchedWords(transcript);
  return (
    <article className={classes.result} aria-labelledby={`r-${recording.id}`}>
      <div className={classes.picture}>
        <Picture recording={recording} />
      </div>
      <div>
        <h2 className={classes.title} id={`r-${recording.id}`}>
          <Link to="/recordings/$recordingId" params={{ recordingId: recording.id }} search={{ find }}>
            {title === undefined || title.snippet.text !== recording.title ? (
              recording.title
            ) : (
              <Marked snippet={title.snippet} />
            )}
          </Link>
        </h2>
        <div className={classes.facts}>
          <time dateTime={recording.start_datetime} title={fullTime(recording.start_datetime)}>
            {day(recording.start_datetime)}
          </time>
          <span>{lengthInWords(recording.duration_ms)}</span>
          <span>{t(mediaTypes[recording.media_type])}</span>
          <Badges hits={result.hits} />
        </div>
        {showsAll ? (
          <AllHits recordingId={recording.id} search={search} find={find} />
        ) : (
          <Moments recordingId={recording.id} hits={moments} find={find} />
        )}
        {!showsAll && transcript.length >= shownMoments ? (
          <Button
            variant="subtle"
            size="compact-sm"
            leftSection={<IconChevronDown size={16} />}
            onClick={() => setShowsAll(true)}
            aria-label={t`Show more matches in ${recordingTitle}`}
          >
            <Trans>Show more matches</Trans>
          </Button>
        ) : null}
      </div>
    </article>
  );
}

/** Words found at most in the opened recording. */
const maxWords = 8;

/** The words that match in the transcript, as they are said there; undefined without any. */
function matchedWords(hits: readonly Hit[]): string | undefined {
  const words = hits.flatMap(({ snippet: { text, marks } }) =>
    marks.map(({ start, end }) => text.slice(start, end).toLowerCase()),
  );
  return [...new Set(words)].slice(0, maxWords).join(" ") || undefined;
}

/** Matching tags and participants. */
function Badges({ hits }: { hits: readonly Hit[] }) {
  const { t } = useLingui();
  return hits
    .filter(({ kind }) => kind === "tag" || kind === "participant")
    .map((hit, index) => (
      <Badge
        // biome-ignore lint/suspicious/noArrayIndexKey: the order never changes.
        key={index}
        variant="default"
        tt="none"
        fw={500}
        leftSection={hit.kind === "participant" ? <IconUser size={12} aria-label={t`Participant`} /> : "#"}
      >
        <Marked snippet={hit.snippet} />
      </Badge>
    ));
}

/** Matches in order of time, each with a link to its position. */
function Moments(props: { recordingId: string; hits: readonly Hit[]; find: string | undefined }) {
  const { recordingId, hits, find } = props;
  if (hits.length === 0) return null;
  return (
    <ul className={classes.moments}>
      {hits.map((hit) => (
        <li key={`${hit.kind} ${hit.highlight_id} ${hit.timestamp}`}>
          <Moment recordingId={recordingId} hit={hit} find={find} />
        </li>
      ))}
    </ul>
  );
}

function Moment(props: { recordingId: string; hit: Hit; find: string | undefined }) {
  const { t } = useLingui();
  const { recordingId, hit, find } = props;
  const at = hit.timestamp ?? 0;
  return (
    <Link
      to="/recordings/$recordingId"
      params={{ recordingId }}
      search={{ t: secondsOf(at), find }}
      className={classes.moment ?? ""}
    >
      <span className={classes.clock}>{clock(at)}</span>
      <span>
        {hit.kind === "highlight" ? (
          <IconHighlight size={15} stroke={1.8} aria-label={t`Highlight`} className={classes.sign ?? ""} />
        ) : null}
        {hit.speaker === null ? null : <span className={classes.speaker}>{hit.speaker}: </span>}
        <Marked snippet={hit.snippet} />
      </span>
    </Link>
  );
}

function AllHits(props: { recordingId: string; search: SearchParams; find: string | undefined }) {
  const { t } = useLingui();
  const { recordingId, search, find } = props;
  const query = useInfiniteQuery(hitsQuery(search, recordingId));
  if (query.isPending) return <Loader size="sm" m="sm" role="img" aria-label={t`Loading more matches`} />;
  if (query.data === undefined)
    return (
      <Text c="red" size="sm" role="alert">
        {errorText(query.error)}
      </Text>
    );
  const hits = query.data.pages
    .flatMap(({ results }) => results.flatMap((result) => result.hits))
    .filter(({ timestamp }) => timestamp !== null);
  return (
    <>
      <Moments recordingId={recordingId} hits={hits} find={find} />
      {query.hasNextPage ? (
        <Button
          variant="subtle"
          size="compact-sm"
          loading={query.isFetchingNextPage}
          leftSection={<IconChevronDown size={16} />}
          onClick={() => query.fetchNextPage()}
        >
          <Trans>Show more matches</Trans>
        </Button>
      ) : null}
    </>
  );
}

export function ResultSkeleton() {
  return (
    <div className={classes.result}>
      <div className={classes.picture}>
        <Skeleton style={{ aspectRatio: "16 / 9" }} />
      </div>
      <div>
        <Skeleton className={classes.title ?? ""} height={18} width="45%" mb={10} />
        <Skeleton className={classes.facts ?? ""} height={12} width="30%" mb={16} />
        <Skeleton height={14} width="92%" mb={8} />
        <Skeleton height={14} width="80%" />
      </div>
    </div>
  );
}
