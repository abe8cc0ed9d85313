import { Trans, useLingui } from "@lingui/react/macro";
import { Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { dismissChecklist, type SystemState, systemQuery } from "../../api/settings/system.ts";
import { useAction } from "../../common/actions.tsx";
import { Checklist, ServerSteps } from "../../common/checklist.tsx";
import { bytes } from "../../common/format/bytes.ts";
import { counted } from "../../common/format/count.ts";
import { dayAndTime, fullTime, whenInLine } from "../../common/format/time.ts";
import { Loaded, NoneYet, Panel, Row, Rows, Section, SettingsPage, Tag } from "../parts.tsx";
import { Components, Words } from "./components.tsx";
import { Jobs } from "./jobs.tsx";
import { Storage } from "./storage.tsx";
import classes from "./system.module.css";
import { WatchedFolders } from "./watched-folders.tsx";

/** The state of the installation, for admins of the operator's workspace. */
export function SystemPage() {
  const { t } = useLingui();
  const system = useQuery(systemQuery);
  const failing = system.data?.components.filter(({ state }) => state === "failing").length ?? 0;
  return (
    <SettingsPage
      title={t`System`}
      lead={
        <Group gap="xs">
          <span>State of this installation{system.data && t`, Parley ${system.data.version}`}.</span>
          {system.data === undefined ? null : failing === 0 ? (
            <Tag tone="good">
              <Trans>Healthy</Trans>
            </Tag>
          ) : (
            <Tag tone="bad">{counted(failing, "problem")}</Tag>
          )}
        </Group>
      }
    >
      <Loaded query={system}>
        {(state) => (
          <>
            <Setup steps={state.checklist} />
            <Components components={state.components} />
            <Rotation progress={state.secret_rotation} />
            <Jobs jobs={state.jobs} failed={state.failed_jobs} />
            <FailedUploads uploads={state.failed_uploads} />
            <FailingHooks hooks={state.failing_hooks} count={state.failing_hook_count} />
            <WatchedFolders folders={state.watched_folders} />
            <Storage />
            <Backups backups={state.backups} />
            <Processes processes={state.processes} />
          </>
        )}
      </Loaded>
    </SettingsPage>
  );
}

/** What is left to set up, until it is done or an admin dismisses it. */
function Setup({ steps }: { steps: SystemState["checklist"] }) {
  const { t } = useLingui();
  const dismiss = useAction({
    run: dismissChecklist,
    done: t`Checklist dismissed for all admins`,
    refresh: [systemQuery.queryKey],
  });
  if (steps === null || steps.every(({ done }) => done)) return null;
  return (
    <Section
      title={t`Set up Parley`}
      lead={t`What most installations need. The optional steps can wait.`}
      action={
        <Button variant="subtle" size="xs" loading={dismiss.isPending} onClick={() => dismiss.mutate()}>
          <Trans>Dismiss checklist</Trans>
        </Button>
      }
    >
      <Panel>
        <Checklist>
          <ServerSteps steps={steps} />
        </Checklist>
      </Panel>
    </Section>
  );
}

/** A new secret, until all stored values are encrypted with it. */
function Rotation({ progress }: { progress: SystemState["secret_rotation"] }) {
  const { t } = useLingui();
  if (progress === null) return null;
  const { done, total } = progress;
  return (
    <Section
      title={t`Secret rotation`}
      lead={t`Stored values are being encrypted with the new secret. Keep the previous one until this ends.`}
    >
      <Rows label={t`Secret rotation`}>
        <Row
          title={`${done.toLocaleString("en")} of ${counted(total, "stored value")} encrypted with the new secret`}
          badges={
            <Tag tone="warn">
              <Trans>In progress</Trans>
            </Tag>
          }
          facts={[<Words key="more" text={t`\`parley secrets status\` lists what it waits for`} />]}
        />
      </Rows>
    </Section>
  );
}

const stages: Readonly<Record<string, string>> = {
  awaiting: "Never arrived",
  processing: "Not valid",
  staged: "Not published in time",
  promoting: "Not converted",
};

function FailedUploads({ uploads }: { uploads: SystemState["failed_uploads"] }) {
  const { t } = useLingui();
  return (
    <Section title={t`Failed uploads`} lead={t`The latest of the last seven days, and why.`}>
      {uploads.length === 0 ? (
        <NoneYet>
          <Trans>No failed uploads.</Trans>
        </NoneYet>
      ) : (
        <Rows label={t`Failed uploads`}>
          {uploads.map((upload) => (
            <Row
              key={upload.id}
              title={upload.reason}
              badges={<Tag tone="bad">{stages[upload.stage] ?? t`Failed`}</Tag>}
              facts={[
                upload.workspace.name,
                <When key="at" at={upload.failed_datetime} isFirst />,
                upload.container,
                upload.bytes !== null && bytes(upload.bytes),
                upload.detail,
                t`upload ${upload.id}`,
              ]}
            />
          ))}
        </Rows>
      )}
    </Section>
  );
}

function FailingHooks({ hooks, count }: { hooks: SystemState["failing_hooks"]; count: number }) {
  const { t } = useLingui();
  return (
    <Section
      title={t`Failing webhooks`}
      lead={
        count > hooks.length
          ? t`${hooks.length} of ${count} failing webhooks, oldest failures first.`
          : t`Webhooks whose last request failed.`
      }
    >
      {hooks.length === 0 ? (
        <NoneYet>
          <Trans>No failing webhooks.</Trans>
        </NoneYet>
      ) : (
        <Rows label={t`Failing webhooks`}>
          {hooks.map((hook) => (
            <Row
              key={hook.id}
              title={hook.host}
              badges={
                hook.disabled ? (
                  <Tag tone="bad">
                    <Trans>Disabled</Trans>
                  </Tag>
                ) : (
                  <Tag tone="warn">
                    <Trans>Failing</Trans>
                  </Tag>
                )
              }
              facts={[
                hook.workspace.name,
                <When key="since" at={hook.failing_since} before="since " />,
                hook.pending > 0 && `${counted(hook.pending, "delivery", "deliveries")} waiting`,
                hook.last_error,
              ]}
            />
          ))}
        </Rows>
      )}
    </Section>
  );
}

function Backups({ backups }: { backups: SystemState["backups"] }) {
  const { t } = useLingui();
  const facts: [string, ReactNode][] = [
    [
      t`Last backup`,
      backups.last_datetime === null ? t`None` : <When key="at" at={backups.last_datetime} isFirst />,
    ],
    [
      t`Next backup`,
      backups.next_datetime === null ? (
        t`Not scheduled`
      ) : (
        <When key="at" at={backups.next_datetime} isFirst />
      ),
    ],
    [
      t`Last verified`,
      backups.last_verified_datetime === null ? (
        t`Never`
      ) : (
        <When key="at" at={backups.last_verified_datetime} isFirst />
      ),
    ],
    [t`Stored in`, backups.destination ?? t`Nowhere`],
    ...(backups.missing_files === 0
      ? []
      : ([[t`Files missing in the last backup`, backups.missing_files]] satisfies [string, ReactNode][])),
  ];
  return (
    <Section
      title={t`Backups`}
      action={
        backups.overdue ? (
          <Tag tone="bad">
            <Trans>Overdue</Trans>
          </Tag>
        ) : backups.last_error !== null ? (
          <Tag tone="bad">
            <Trans>Failed</Trans>
          </Tag>
        ) : backups.missing_files === 0 ? null : (
          <Tag tone="bad">
            <Trans>Incomplete</Trans>
          </Tag>
        )
      }
    >
      <dl className={classes.figures}>
        {facts.map(([term, value]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

const roles = { all: "API and worker", api: "API", worker: "Worker" } as const;

function Processes({ processes }: { processes: SystemState["processes"] }) {
  const { t } = useLingui();
  return (
    <Section title={t`Processes`} lead={t`Each sends a heartbeat every 15 seconds.`}>
      {processes.length === 0 ? (
        <NoneYet>
          <Trans>No process has reported yet.</Trans>
        </NoneYet>
      ) : (
        <Rows label={t`Processes`}>
          {processes.map((one) => (
            <Row
              key={one.id}
              title={roles[one.role]}
              badges={
                one.responding ? (
                  <Tag tone="good">
                    <Trans>Running</Trans>
                  </Tag>
                ) : (
                  <Tag tone="bad">
                    <Trans>Not responding</Trans>
                  </Tag>
                )
              }
              facts={[
                t`${one.host}, process ${one.pid}`,
                t`version ${one.version}`,
                <When key="started" at={one.started_datetime} before="started " />,
                <When key="beat" at={one.heartbeat_datetime} before={t`last heartbeat `} />,
              ]}
            />
          ))}
        </Rows>
      )}
    </Section>
  );
}

/** A time, with the full date as its tooltip. */
function When({ at, before = "", isFirst = false }: { at: string; before?: string; isFirst?: boolean }) {
  return (
    <time dateTime={at} title={fullTime(at)}>
      {before}
      {isFirst ? dayAndTime(at) : whenInLine(at)}
    </time>
  );
}
