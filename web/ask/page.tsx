import { Trans, useLingui } from "@lingui/react/macro";
import { ActionIcon, Button, Group, Stack, Text, TextInput, Title } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconMessageQuestion, IconPencil } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { deleteThread, renameThread, type Thread, threadQuery, threadsQuery } from "../api/ask.ts";
import { FormDialog } from "../common/dialogs/form-dialog.tsx";
import { dayAndTime } from "../common/format/time.ts";
import { ConfirmButton } from "../common/forms/confirm.tsx";
import { Form, useForm } from "../common/forms/form.tsx";
import { LoadMore } from "../common/lists/load-more.tsx";
import { BackLink, PageStack } from "../common/page-frame.tsx";
import { EmptyState, ErrorState } from "../common/states.tsx";
import { useTitle } from "../common/use-title.ts";
import { Row, Rows, RowsSkeleton } from "../settings/parts.tsx";
import { AskBox } from "./box.tsx";
import { conversationAt } from "./conversation.ts";
import { ModelMissing, useModelState } from "./model-missing.tsx";

/** The user's questions, or one thread of them. */
export function AskPage() {
  const { threadId } = useParams({ strict: false });
  return threadId === undefined ? <Threads /> : <OneThread key={threadId} id={threadId} />;
}

function Threads() {
  const { t } = useLingui();
  useTitle(t`Questions`);
  const query = useInfiniteQuery(threadsQuery);
  const state = useModelState();
  const threads = query.data?.pages.flatMap((one) => one.threads) ?? [];
  return (
    <PageStack>
      <div>
        <Title order={1} size="h2">
          <Trans>Questions</Trans>
        </Title>
        <Text c="dimmed">
          <Trans>Only you see your questions and their answers.</Trans>
        </Text>
      </div>
      {query.isPending ? <RowsSkeleton /> : null}
      {query.isError && query.data === undefined ? (
        <ErrorState error={query.error} retry={() => query.refetch()} />
      ) : null}
      {query.data !== undefined && threads.length === 0 ? (
        <EmptyState title={t`No questions yet`} icon={<IconMessageQuestion size={30} stroke={1.5} />}>
          {state === "ready" ? (
            <Trans>
              Ask in the library, on the search page or on the page of a recording. Your questions appear
              here.
            </Trans>
          ) : (
            <ModelMissing subject="questions" state={state} />
          )}
        </EmptyState>
      ) : null}
      {threads.length === 0 ? null : (
        <>
          <Rows label={t`Earlier questions`}>
            {threads.map((thread) => (
              <Row
                key={thread.id}
                title={
                  <Link to="/ask/{-$threadId}" params={{ threadId: thread.id }} dir="auto">
                    {thread.title}
                  </Link>
                }
                facts={[
                  dayAndTime(thread.updated_datetime),
                  thread.recording_id === null ? t`All meetings` : t`One meeting`,
                ]}
                actions={<ThreadActions thread={thread} />}
              />
            ))}
          </Rows>
          <LoadMore query={query} />
        </>
      )}
    </PageStack>
  );
}

type ThreadName = Pick<Thread, "id" | "title">;

function ThreadActions({ thread, onDeleted }: { thread: ThreadName; onDeleted?: () => void }) {
  const { t } = useLingui();
  const { id, title } = thread;
  const [isRenaming, rename] = useDisclosure();
  return (
    <>
      <ActionIcon variant="subtle" color="gray" aria-label={t`Rename ${title}`} onClick={rename.open}>
        <IconPencil size={16} />
      </ActionIcon>
      <ConfirmButton
        text={t`Delete`}
        button={{ "aria-label": t`Delete ${title}` }}
        title={t`Delete this question?`}
        label={t`Delete question`}
        run={() => deleteThread(id)}
        done={t`Question deleted.`}
        refresh={[threadsQuery.queryKey]}
        {...(onDeleted === undefined ? {} : { onDone: onDeleted })}
      >
        <Trans>The question, its follow-ups and their answers are deleted permanently.</Trans>
      </ConfirmButton>
      <FormDialog opened={isRenaming} onClose={rename.close} title={t`Rename question`} centered>
        <RenameForm thread={thread} onDone={rename.close} />
      </FormDialog>
    </>
  );
}

function RenameForm({ thread, onDone }: { thread: ThreadName; onDone: () => void }) {
  const { t } = useLingui();
  const [title, setTitle] = useState(thread.title);
  const form = useForm({
    run: () => renameThread(thread.id, title),
    refresh: [threadsQuery.queryKey, threadQuery(thread.id).queryKey],
    onDone,
  });
  return (
    <Form form={form} label={t`Save name`} onCancel={onDone} isDisabled={title.trim() === ""}>
      <TextInput
        label={t`Name`}
        required
        maxLength={200}
        value={title}
        onChange={(event) => setTitle(event.currentTarget.value)}
        error={form.errorOf("title")}
        data-autofocus
      />
    </Form>
  );
}

function OneThread({ id }: { id: string }) {
  const { t } = useLingui();
  const query = useQuery(threadQuery(id));
  useTitle(query.data?.title ?? t`Question`);
  return (
    <PageStack>
      <BackLink to="/ask">{t`Questions`}</BackLink>
      {query.data === undefined ? (
        query.isError ? (
          <ErrorState error={query.error} retry={() => query.refetch()} />
        ) : (
          <RowsSkeleton />
        )
      ) : (
        <Loaded thread={query.data} />
      )}
    </PageStack>
  );
}

function Loaded({ thread }: { thread: Thread }) {
  const { t } = useLingui();
  const navigate = useNavigate();
  const conversation = conversationAt(thread.id, null);
  useEffect(() => conversation.load(thread), [conversation, thread]);
  return (
    <Stack>
      <Group justify="space-between" align="flex-start" wrap="nowrap">
        <Title order={1} size="h2" dir="auto" style={{ overflowWrap: "anywhere" }}>
          {thread.title}
        </Title>
        <Group gap={4} wrap="nowrap">
          <ThreadActions
            thread={thread}
            onDeleted={() =>
              navigate({ to: "/ask/{-$threadId}", params: { threadId: undefined }, replace: true })
            }
          />
        </Group>
      </Group>
      {thread.recording_id === null ? null : (
        <Group>
          <Button
            component={Link}
            to={`/recordings/${thread.recording_id}`}
            variant="default"
            size="compact-sm"
          >
            <Trans>Open the meeting</Trans>
          </Button>
        </Group>
      )}
      <AskBox conversation={conversation} label={t`Ask a follow-up question`} isThread />
    </Stack>
  );
}
