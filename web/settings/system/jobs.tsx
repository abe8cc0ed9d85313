import { plural, t } from "@lingui/core/macro";
import { Trans, useLingui } from "@lingui/react/macro";
import { Table, Text } from "@mantine/core";
import {
  discardJob,
  type FailedJob,
  retryJob,
  type SystemState,
  systemQuery,
} from "../../api/settings/system.ts";
import { ServerText } from "../../causes/server-text.tsx";
import { useAction } from "../../common/actions.tsx";
import { number } from "../../common/format/numbers.ts";
import { fullTime, whenInLine } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { NoneYet, Row, RowButton, Rows, Section, Tag } from "../parts.tsx";
import classes from "./system.module.css";

/** The job queue by kind, and the failed jobs. */
export function Jobs({ jobs, failed }: { jobs: SystemState["jobs"]; failed: readonly FailedJob[] }) {
  const { t } = useLingui();
  const busy = jobs.filter((one) => one.waiting + one.running + one.failed > 0);
  return (
    <>
      <Section title={t`Jobs`} lead={t`Background work that isn't finished.`}>
        {busy.length === 0 ? (
          <NoneYet>
            <Trans>No jobs are waiting.</Trans>
          </NoneYet>
        ) : (
          <div className={classes.table}>
            <Table verticalSpacing="xs" horizontalSpacing="md" aria-label={t`Jobs`}>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>
                    <Trans>Job</Trans>
                  </Table.Th>
                  <Table.Th className={classes.number ?? ""}>
                    <Trans>Waiting</Trans>
                  </Table.Th>
                  <Table.Th className={classes.number ?? ""}>
                    <Trans>Running</Trans>
                  </Table.Th>
                  <Table.Th className={classes.number ?? ""}>
                    <Trans>Failed</Trans>
                  </Table.Th>
                  <Table.Th className={classes.oldest ?? ""}>
                    <Trans>Oldest</Trans>
                  </Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {busy.map((one) => (
                  <Table.Tr key={one.kind}>
                    <Table.Td>{one.label}</Table.Td>
                    <Table.Td className={classes.number ?? ""}>{number(one.waiting)}</Table.Td>
                    <Table.Td className={classes.number ?? ""}>{number(one.running)}</Table.Td>
                    <Table.Td className={classes.number ?? ""}>{number(one.failed)}</Table.Td>
                    <Table.Td className={classes.oldest ?? ""}>
                      {one.oldest_datetime === null ? "–" : whenInLine(one.oldest_datetime)}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </div>
        )}
      </Section>
      <Section title={t`Failed jobs`} lead={t`Most are retried until they succeed.`}>
        {failed.length === 0 ? (
          <NoneYet>
            <Trans>No failed jobs.</Trans>
          </NoneYet>
        ) : (
          <Rows label={t`Failed jobs`}>
            {failed.map((job) => (
              <FailedJobRow key={job.id} job={job} />
            ))}
          </Rows>
        )}
      </Section>
    </>
  );
}

/** The subject of a job by its type. */
const subjects: Readonly<Record<FailedJob["subject_type"], (id: string) => string>> = {
  upload: (id) => t`upload ${id}`,
  recording: (id) => t`recording ${id}`,
  clip: (id) => t`clip ${id}`,
  personal_data_erasure: (id) => t`personal data erasure ${id}`,
  mail: (id) => t`mail ${id}`,
  password_reset: (id) => t`password reset ${id}`,
  access_request: (id) => t`access request ${id}`,
  speech_model: (id) => t`speech model ${id}`,
  import_run: (id) => t`import run ${id}`,
  connection_event: (id) => t`connection event ${id}`,
  installation: (id) => t`installation ${id}`,
};

function FailedJobRow({ job }: { job: FailedJob }) {
  const { t } = useLingui();
  const { id, label: name, workspace, next_attempt_datetime: next } = job;
  const time = next === null ? null : whenInLine(next);
  const retry = useAction({
    run: () => retryJob(id),
    done: t`Job retried.`,
    refresh: [systemQuery.queryKey],
  });
  return (
    <Row
      title={name}
      badges={
        next === null ? (
          <Tag tone="bad">
            <Trans>Stopped</Trans>
          </Tag>
        ) : (
          <Tag tone="warn">
            <Trans>Will retry</Trans>
          </Tag>
        )
      }
      facts={[
        workspace?.name,
        plural(job.attempts, { one: "# attempt", other: "# attempts" }),
        next !== null && (
          <time key="next" dateTime={next} title={fullTime(next)}>
            <Trans>next {time}</Trans>
          </time>
        ),
        job.subject_id !== null && subjects[job.subject_type](job.subject_id),
      ]}
      actions={
        <>
          <RowButton text={t`Retry`} label={t`Retry ${name}`} action={retry} />
          {job.can_discard ? (
            <ConfirmButton
              text={t`Discard`}
              button={{ "aria-label": t`Discard ${name}` }}
              title={t`Discard job?`}
              label={t`Discard job`}
              run={() => discardJob(id)}
              done={t`Job discarded.`}
              refresh={[systemQuery.queryKey]}
            >
              {job.discard_effect}
            </ConfirmButton>
          ) : null}
        </>
      }
    >
      <Text size="sm" className={classes.error ?? ""}>
        <ServerText text={job.error} />
      </Text>
    </Row>
  );
}
