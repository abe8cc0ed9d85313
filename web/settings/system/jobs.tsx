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

const kinds: Readonly<Record<string, string>> = {
  validate_upload: "Check uploaded file",
  join_upload_parts: "Assemble uploaded file",
  promote_upload: "Publish transcript",
  promote_media: "Process media",
  fetch_import: "Fetch import",
  transcribe_recording: "Transcribe",
  analyze_recording: "Summarize",
  render_clip: "Render clip",
  render_companions: "Create thumbnail and waveform",
  send_mail: "Send email",
  request_password_reset: "Reset password",
  request_access: "Request access",
  erase_personal_data: "Erase personal data",
  install_model: "Download speech model",
  import_recordings: "Import recordings",
  import_connection_event: "Import from a connection",
};

const kindLabel = (kind: string): string => kinds[kind] ?? kind.replaceAll("_", " ");

/** What is lost when a failed job is discarded. */
const lost: Readonly<Record<FailedJob["subject_type"], string>> = {
  upload: "The upload fails and its file is deleted. It can be sent again.",
  recording: "The recording stays. What is missing can be requested again.",
  clip: "The clip fails. Links to it can't play it.",
  mail: "The email is not sent.",
  access_request: "The request is lost. The user can request access again.",
  password_reset: "The email is not sent. The user can request another one.",
  personal_data_erasure: "",
  speech_model: "",
  import_run: "The import is canceled. What was imported stays.",
  connection_event: "The event fails. It can be retried in Settings → Connections.",
};

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
                    <Table.Td>{kindLabel(one.kind)}</Table.Td>
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
  const name = kindLabel(job.kind);
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
        `${job.subject_type.replaceAll("_", " ")} ${job.subject_id}`,
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
              {lost[job.subject_type]}
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
