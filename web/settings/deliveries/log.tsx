import { plural } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Alert, Anchor, Text } from "@mantine/core";
import { IconAlertTriangle, IconCircleCheck } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import {
  type Attempt,
  attemptsQuery,
  resendAttempt,
  type TestResult,
} from "../../api/settings/deliveries.ts";
import { FormError, useAction } from "../../common/actions.tsx";
import { ServerText } from "../../common/format/server-text.tsx";
import { whenInLine } from "../../common/format/time.ts";
import { LoadMore } from "../../common/lists/load-more.tsx";
import { recordingUrl } from "../../common/recording-url.ts";
import { ErrorState } from "../../common/states.tsx";
import { NoneYet, Pre, Row, RowButton, Rows, RowsSkeleton } from "../parts.tsx";
import { DeliveryTag } from "../webhooks/delivery-tag.tsx";

/** What a test returned. */
export function TestOutcome({ result, error }: { result: TestResult | undefined; error: unknown }) {
  const { t } = useLingui();
  if (error !== null) return <FormError error={error} fields={[]} />;
  if (result === undefined) return null;
  const { status, recording } = result;
  const title = recording?.title;
  return (
    <Alert
      mt="xs"
      role="status"
      variant="light"
      c="bright"
      color={result.ok ? "green" : "red"}
      icon={
        result.ok ? <IconCircleCheck size={18} aria-hidden /> : <IconAlertTriangle size={18} aria-hidden />
      }
      title={
        !result.ok
          ? t`The test failed`
          : status === null
            ? t`The test succeeded`
            : t`The test succeeded (status ${status})`
      }
    >
      <Text size="sm">
        {title === undefined
          ? t`Tested with a sample, because none of your recordings would be sent yet.`
          : t`Tested with the recording “${title}”.`}
      </Text>
      {result.error === null ? null : (
        <Text size="sm">
          <ServerText text={result.error} />
        </Text>
      )}
      {result.response === "" ? null : status === null ? (
        <Text size="sm">
          <ServerText text={result.response} />
        </Text>
      ) : (
        <Pre label={t`Response`} text={result.response} />
      )}
    </Alert>
  );
}

/** The recordings that a delivery has sent, newest first. */
export function DeliveryLog({ id, canManage }: { id: string; canManage: boolean }) {
  const { t } = useLingui();
  const query = useInfiniteQuery(attemptsQuery(id));
  if (query.isPending) return <RowsSkeleton />;
  if (query.data === undefined) return <ErrorState error={query.error} retry={() => query.refetch()} />;
  const attempts = query.data.pages.flatMap(({ attempts }) => attempts);
  if (attempts.length === 0)
    return (
      <NoneYet>
        <Trans>Nothing sent yet. Recordings appear here when their summary is ready.</Trans>
      </NoneYet>
    );
  return (
    <div>
      <Rows label={t`Sent recordings`}>
        {attempts.map((attempt) => (
          <AttemptRow key={attempt.id} id={id} attempt={attempt} canManage={canManage} />
        ))}
      </Rows>
      <LoadMore query={query} />
    </div>
  );
}

function AttemptRow({ id, attempt, canManage }: { id: string; attempt: Attempt; canManage: boolean }) {
  const { t } = useLingui();
  const resend = useAction({
    run: () => resendAttempt(id, attempt.id),
    done: t`Sending again.`,
    refresh: [attemptsQuery(id).queryKey],
  });
  const title = attempt.title ?? t`A recording that you can't see, or that was deleted`;
  const { last_status: status } = attempt;
  const next = attempt.due_datetime === null ? null : whenInLine(attempt.due_datetime);
  return (
    <Row
      title={
        attempt.title === null ? (
          title
        ) : (
          <Anchor component={Link} to={recordingUrl(attempt.recording_id)} fw={600} c="inherit">
            {title}
          </Anchor>
        )
      }
      badges={<DeliveryTag state={attempt.state} />}
      facts={[
        whenInLine(attempt.last_datetime ?? attempt.created_datetime),
        attempt.attempts > 1 ? plural(attempt.attempts, { one: "# attempt", other: "# attempts" }) : null,
        // The error names it too.
        status === null || attempt.last_error !== null ? null : t`response ${status}`,
        attempt.last_error !== null && <ServerText key="error" text={attempt.last_error} />,
        (attempt.last_error !== null || status === null) && attempt.last_response !== null && (
          <ServerText key="response" text={attempt.last_response} />
        ),
        next === null || attempt.attempts === 0 ? null : t`next attempt ${next}`,
      ]}
      actions={
        canManage && attempt.state !== "withheld" && attempt.state !== "pending" ? (
          <RowButton text={t`Resend`} label={t`Resend ${title}`} action={resend} />
        ) : undefined
      }
    />
  );
}
