import { plural, t } from "@lingui/core/macro";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Button, Group, Loader, Text, VisuallyHidden } from "@mantine/core";
import { IconPlayerPlay, IconRefresh } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { ServerText } from "../common/format/server-text.tsx";
import { clock } from "../common/format/time.ts";
import { FeedbackThumbs } from "../common/forms/feedback-thumbs.tsx";
import { secondsOf } from "../common/recording-url.ts";
import classes from "./ask.module.css";
import type { Answer, Conversation, ShownStatement } from "./conversation.ts";

/** A question with its answer, which grows while the model writes. All of it is text, never markup. */
export function AnswerView(props: {
  answer: Answer;
  /** Plays a moment of the recording that is open; without it, statements open theirs. */
  onMoment: ((ms: number) => void) | null;
  /** Null while it can't be asked again. */
  onAgain: (() => void) | null;
  onRate: Conversation["rate"];
}) {
  const { t } = useLingui();
  const { answer, onMoment, onAgain, onRate } = props;
  const { statements, state, number } = answer;
  return (
    <article className={classes.answer} aria-busy={state === "running"}>
      <Text className={classes.question ?? ""} fw={600} dir="auto">
        {answer.question}
      </Text>
      <ul className={classes.statements} aria-label={t`Answer`} aria-live="polite" aria-relevant="additions">
        {statements.map((statement, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: statements are only added.
          <li key={index} className={classes.statement}>
            <StatementView statement={statement} onMoment={onMoment} />
          </li>
        ))}
      </ul>
      <Progress answer={answer} />
      {state === "failed" && onAgain !== null ? (
        <Button
          variant="light"
          size="compact-sm"
          leftSection={<IconRefresh size={16} stroke={1.6} aria-hidden />}
          onClick={onAgain}
        >
          <Trans>Ask again</Trans>
        </Button>
      ) : null}
      {state === "done" && number !== null ? (
        <FeedbackThumbs
          subject="answer"
          given={answer.feedback}
          save={(feedback) => onRate(number, feedback)}
          refresh={[]}
        />
      ) : null}
    </article>
  );
}

function StatementView(props: { statement: ShownStatement; onMoment: ((ms: number) => void) | null }) {
  const { statement, onMoment } = props;
  const { t } = useLingui();
  const { text, quote, title, start, recording_id: recordingId } = statement;
  const time = clock(start);
  const icon = <IconPlayerPlay size={14} stroke={1.8} aria-hidden />;
  return (
    <>
      <Text dir="auto">{text}</Text>
      <Text component="blockquote" className={classes.quote ?? ""} size="sm" dir="auto">
        {t`“${quote}”`}
      </Text>
      {onMoment === null ? (
        <Link
          className={classes.moment}
          to="/recordings/$recordingId"
          params={{ recordingId }}
          search={{ t: secondsOf(start) }}
        >
          {icon}
          <VisuallyHidden>
            <Trans>Open this moment:</Trans>{" "}
          </VisuallyHidden>
          <span className={classes.time}>{time}</span>
          <span className={classes.title} dir="auto">
            {title}
          </span>
        </Link>
      ) : (
        <button type="button" className={classes.moment} onClick={() => onMoment(start)}>
          {icon}
          <VisuallyHidden>
            <Trans>Play this moment:</Trans>{" "}
          </VisuallyHidden>
          <span className={classes.time}>{time}</span>
        </button>
      )}
    </>
  );
}

/** What happens, or how it ended. */
function Progress({ answer }: { answer: Answer }) {
  const { t } = useLingui();
  const { state, statements, message } = answer;
  const lines = [
    leftOutText(answer.leftOut),
    hiddenText(answer.hidden),
    state === "done" && statements.length === 0 && message === null && answer.hidden === 0
      ? t`There is no answer.`
      : null,
  ].filter((line) => line !== null);
  const color = state === "failed" || statements.length === 0 ? "bright" : "dimmed";
  return (
    <div role="status">
      {state === "running" ? (
        <Group gap="xs" wrap="nowrap">
          <Loader size="xs" aria-hidden />
          <Text size="sm" c="dimmed">
            {answer.waitsFor === null ? progressText(answer) : <ServerText text={answer.waitsFor} />}
          </Text>
        </Group>
      ) : null}
      {message === null ? null : (
        <Text size="sm" c={color}>
          {typeof message === "string" ? <ServerText text={message} /> : message()}
        </Text>
      )}
      {lines.map((line) => (
        <Text key={line} size="sm" c={color}>
          {line}
        </Text>
      ))}
      {state === "done" && statements.length > 0 ? (
        <VisuallyHidden>
          <Plural
            value={statements.length}
            one="Answer complete: # statement."
            other="Answer complete: # statements."
          />
        </VisuallyHidden>
      ) : null}
    </div>
  );
}

function progressText({ passages }: Answer): string {
  if (passages.length === 0) return t`Searching…`;
  const meetings = new Set(passages.map(({ recordingId }) => recordingId)).size;
  const found = plural(passages.length, { one: "Reading # passage…", other: "Reading # passages…" });
  if (meetings === 1) return found;
  const passage = plural(passages.length, { one: "# passage", other: "# passages" });
  return plural(meetings, {
    one: `Reading ${passage} of # meeting…`,
    other: `Reading ${passage} of # meetings…`,
  });
}

function leftOutText(count: number): string | null {
  if (count === 0) return null;
  return plural(count, {
    one: "# statement without proof was left out.",
    other: "# statements without proof were left out.",
  });
}

function hiddenText(count: number): string | null {
  if (count === 0) return null;
  return plural(count, {
    one: "# statement is hidden: you can no longer see the meeting.",
    other: "# statements are hidden: you can no longer see the meeting.",
  });
}
