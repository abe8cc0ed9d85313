import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Group, Text, TextInput } from "@mantine/core";
import { IconHistory, IconMessageQuestion, IconPlayerStopFilled } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { type AskFilter, askStateQuery, threadsQuery } from "../api/ask.ts";
import { namesInLine } from "../common/format/names.ts";
import { AnswerView } from "./answer.tsx";
import classes from "./ask.module.css";
import type { Conversation } from "./conversation.ts";
import { ModelMissing, useModelState } from "./model-missing.tsx";

/** As the API bounds it. */
const maxQuestionLength = 2000;

/** A field for questions, with the answers of its thread. Leaving the page stops an answer. */
export function AskBox(props: {
  conversation: Conversation;
  /** What the field asks for, such as "Ask about this meeting". */
  label: string;
  /** Which meetings are read. */
  filter?: AskFilter;
  /** The filters in words. */
  filterWords?: readonly string[];
  onMoment?: (ms: number) => void;
  /** On the page of a thread, all of it belongs to one thread. */
  isThread?: boolean;
}) {
  const { t } = useLingui();
  const { conversation, label, filter, filterWords = [], onMoment = null, isThread = false } = props;
  const { answers } = useSyncExternalStore(conversation.subscribe, conversation.get);
  const state = useModelState();
  const last = answers.at(-1);
  const filters = namesInLine(filterWords, filterWords.length);
  const isBusy = last?.state === "running";
  useEffect(() => conversation.stop, [conversation]);
  useRefreshed(isBusy, last?.state === "failed");
  const views = answers.map((answer, index) => (
    <AnswerView
      // biome-ignore lint/suspicious/noArrayIndexKey: answers are only added.
      key={index}
      answer={answer}
      onMoment={onMoment}
      onRate={conversation.rate}
      onAgain={answer === last && state === "ready" ? () => conversation.ask(answer.question, filter) : null}
    />
  ));
  return (
    <section className={classes.box} aria-label={label}>
      {isThread ? views : null}
      {state === "ready" ? (
        <QuestionForm
          label={answers.length === 0 ? label : t`Ask a follow-up question`}
          isBusy={isBusy}
          onAsk={(question) => conversation.ask(question, filter)}
          onStop={conversation.stop}
          hasHistory={!isThread}
        />
      ) : (
        <Text size="sm" c="dimmed">
          <ModelMissing subject="questions" state={state} />
        </Text>
      )}
      {filterWords.length === 0 || state !== "ready" ? null : (
        <Text size="xs" c="dimmed">
          <Trans>Only meetings that match your filters: {filters}</Trans>
        </Text>
      )}
      {/* The field stays where it is, with the newest answer below. */}
      {isThread ? null : views.toReversed()}
      {isThread || answers.length === 0 || isBusy ? null : (
        <Group>
          <Button variant="subtle" size="compact-sm" onClick={conversation.clear}>
            <Trans>New question</Trans>
          </Button>
        </Group>
      )}
    </section>
  );
}

/** After an answer the list of threads has changed; after a refusal perhaps whether questions can be asked. */
function useRefreshed(isBusy: boolean, hasFailed: boolean): void {
  const client = useQueryClient();
  const wasBusy = useRef(isBusy);
  useEffect(() => {
    if (wasBusy.current && !isBusy) {
      void client.invalidateQueries({ queryKey: threadsQuery.queryKey });
      if (hasFailed) void client.invalidateQueries({ queryKey: askStateQuery.queryKey });
    }
    wasBusy.current = isBusy;
  }, [client, isBusy, hasFailed]);
}

function QuestionForm(props: {
  label: string;
  isBusy: boolean;
  onAsk: (question: string) => void;
  onStop: () => void;
  /** Whether it links to the user's threads. */
  hasHistory: boolean;
}) {
  const { t } = useLingui();
  const { label, isBusy, onAsk, onStop, hasHistory } = props;
  const [text, setText] = useState("");
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (isBusy || text.trim() === "") return;
        onAsk(text.trim());
        setText("");
      }}
    >
      <TextInput
        className={classes.field ?? ""}
        aria-label={label}
        placeholder={label}
        maxLength={maxQuestionLength}
        dir="auto"
        leftSection={<IconMessageQuestion size={18} stroke={1.6} aria-hidden />}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {isBusy ? (
        <Button
          variant="default"
          leftSection={<IconPlayerStopFilled size={16} aria-hidden />}
          onClick={onStop}
        >
          <Trans>Stop</Trans>
        </Button>
      ) : (
        <Button type="submit" variant="light" disabled={text.trim() === ""}>
          <Trans>Ask</Trans>
        </Button>
      )}
      {hasHistory ? (
        <ActionIcon
          component={Link}
          to="/ask"
          variant="subtle"
          color="gray"
          size={36}
          aria-label={t`Earlier questions`}
          title={t`Earlier questions`}
        >
          <IconHistory size={20} stroke={1.6} />
        </ActionIcon>
      ) : null}
    </form>
  );
}
