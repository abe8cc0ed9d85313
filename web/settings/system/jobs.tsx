import { Table, Text } from "@mantine/core";
import {
  discardJob,
  type FailedJob,
  retryJob,
  type SystemState,
  systemQuery,
} from "../../api/settings/system.ts";
import { useAction } from "../../common/actions.tsx";
import { counted } from "../../common/format/count.ts";
import { fullTime, whenInLine } from "../../common/format/time.ts";
import { ConfirmButton } from "../../common/forms/confirm.tsx";
import { NoneYet, Row, RowButton, Rows, Section, Tag } from "../parts.tsx";
import classes from "./system.module.css";

/** The job queue by kind, and the failed jobs. */
export function Jobs({ jobs, failed }: { jobs: SystemState["jobs"]; failed: readonly FailedJob[] }) {
  const busy = jobs.filter((one) => one.waiting + one.running + one.failed > 0);
  return (
    <>
      <Section title="Jobs" lead="Background work that isn't finished.">
        {busy.length === 0 ? (
          <NoneYet>No jobs are waiting.</NoneYet>
        ) : (
          <div className={classes.table}>
            <Table verticalSpacing="xs" horizontalSpacing="md" aria-label="Jobs">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Job</Table.Th>
                  <Table.Th className={classes.number ?? ""}>Waiting</Table.Th>
                  <Table.Th className={classes.number ?? ""}>Running</Table.Th>
                  <Table.Th className={classes.number ?? ""}>Failed</Table.Th>
                  <Table.Th className={classes.oldest ?? ""}>Oldest</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {busy.map((one) => (
                  <Table.Tr key={one.kind}>
                    <Table.Td>{one.label}</Table.Td>
                    <Table.Td className={classes.number ?? ""}>{one.waiting.toLocaleString()}</Table.Td>
                    <Table.Td className={classes.number ?? ""}>{one.running.toLocaleString()}</Table.Td>
                    <Table.Td className={classes.number ?? ""}>{one.failed.toLocaleString()}</Table.Td>
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
      <Section title="Failed jobs" lead="Most are retried until they succeed.">
        {failed.length === 0 ? (
          <NoneYet>No failed jobs.</NoneYet>
        ) : (
          <Rows label="Failed jobs">
            {failed.map((job) => (
              <FailedJobRow key={job.id} job={job} />
            ))}
          </Rows>
        )}
      </Section>
    </>
  );
}

function FailedJobRow({ job }: { job: FailedJob }) {
  const { id, workspace, next_attempt_datetime: next } = job;
  const name = job.label;
  const retry = useAction({ run: () => retryJob(id), done: "Job retried.", refresh: [systemQuery.queryKey] });
  return (
    <Row
      title={name}
      badges={next === null ? <Tag tone="bad">Stopped</Tag> : <Tag tone="warn">Will retry</Tag>}
      facts={[
        workspace?.name,
        counted(job.attempts, "attempt"),
        next !== null && (
          <time key="next" dateTime={next} title={fullTime(next)}>
            next {whenInLine(next)}
          </time>
        ),
        job.subject_id !== null && `${job.subject_type.replaceAll("_", " ")} ${job.subject_id}`,
      ]}
      actions={
        <>
          <RowButton text="Retry" name={name} action={retry} />
          {job.can_discard ? (
            <ConfirmButton
              text="Discard"
              button={{ "aria-label": `Discard ${name}` }}
              title="Discard job?"
              label="Discard job"
              run={() => discardJob(id)}
              done="Job discarded."
              refresh={[systemQuery.queryKey]}
            >
              {job.discard_effect}
            </ConfirmButton>
          ) : null}
        </>
      }
    >
      <Text size="sm" className={classes.error ?? ""}>
        {job.error}
      </Text>
    </Row>
  );
}
