import type { MessageDescriptor } from "@lingui/core";
import { msg, plural, t } from "@lingui/core/macro";
import { Plural, Trans, useLingui } from "@lingui/react/macro";
import { Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { dismissChecklist, type SystemState, systemQuery } from "../../api/settings/system.ts";
import { ServerText } from "../../causes/server-text.tsx";
import { useAction } from "../../common/actions.tsx";
import { bytes } from "../../common/format/bytes.ts";
import { number } from "../../common/format/numbers.ts";
import { dayAndTime, fullTime, whenInLine } from "../../common/format/time.ts";
import { Checklist, ServerSteps } from "../../common/lists/checklist.tsx";
import { Loaded, NoneYet, Panel, Row, Rows, Section, SettingsPage, Tag } from "../parts.tsx";
import { Components } from "./components.tsx";
import { Jobs } from "./jobs.tsx";
import { Storage } from "./storage.tsx";
import classes from "./system.module.css";
import { WatchedFolders } from "./watched-folders.tsx";

/** The state of the installation, for admins of the operator's workspace. */
export function SystemPage() {
  const { t } = useLingui();
  const system = useQuery(systemQuery);
  const version = system.data?.version;
  const failing = system.data?.components.filter(({ state }) => state === "failing").length ?? 0;
  return (
    <SettingsPage
      title={t`System`}
      lead={
        <Group gap="xs">
          <span>
            {version === undefined ? (
              <Trans>State of this installation.</Trans>
            ) : (
              <Trans>State of this installation, Parley {version}.</Trans>
            )}
          </span>
          {system.data === undefined ? null : failing === 0 ? (
            <Tag tone="good">
              <Trans>Healthy</Trans>
            </Tag>
          ) : (
            <Tag tone="bad">
              <Plural value={failing} one="# problem" other="# problems" />
            </Tag>
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
  const { total } = progress;
  const done = number(progress.done);
  return (
    <Section
      title={t`Secret rotation`}
      lead={t`Stored values are being encrypted with the new secret. Keep the previous one until this ends.`}
    >
      <Rows label={t`Secret rotation`}>
        <Row
          title={plural(total, {
            one: `${done} of # stored value encrypted with the new secret`,
            other: `${done} of # stored values encrypted with the new secret`,
          })}
          badges={
            <Tag tone="warn">
              <Trans>In progress</Trans>
            </Tag>
          }
          facts={[
            <Trans key="more">
              <code>parley secrets status</code> lists what it waits for
            </Trans>,
          ]}
        />
      </Rows>
    </Section>
  );
}

const stages: Readonly<Record<string, MessageDescriptor>> = {
  awaiting: msg`Never arrived`,
  processing: msg`Not valid`,
  staged: msg`Not published in time`,
  promoting: msg`Not converted`,
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
              title={<ServerText text={upload.reason} />}
              badges={<Tag tone="bad">{t(stages[upload.stage] ?? msg`Failed`)}</Tag>}
              facts={[
                upload.workspace.name,
                <When key="at" at={upload.failed_datetime} />,
                upload.container,
                upload.bytes !== null && bytes(upload.bytes),
                upload.detail !== null && (
                  <span key="detail" lang="en">
                    {upload.detail}
                  </span>
                ),
                uploadText(upload.id),
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
  const shown = number(hooks.length);
  return (
    <Section
      title={t`Failing webhooks`}
      lead={
        count > hooks.length
          ? plural(count, {
              one: `${shown} of # failing webhook, oldest failures first.`,
              other: `${shown} of # failing webhooks, oldest failures first.`,
            })
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
                <When key="since" at={hook.failing_since} text={(time) => t`since ${time}`} />,
                hook.pending > 0 &&
                  plural(hook.pending, { one: "# delivery waiting", other: "# deliveries waiting" }),
                hook.last_error !== null && <ServerText key="error" text={hook.last_error} />,
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
      backups.last_datetime === null ? t`Never` : <When key="at" at={backups.last_datetime} />,
    ],
    [
      t`Next backup`,
      backups.next_datetime === null ? t`Not scheduled` : <When key="at" at={backups.next_datetime} />,
    ],
    [
      t`Last verified`,
      backups.last_verified_datetime === null ? (
        t`Never`
      ) : (
        <When key="at" at={backups.last_verified_datetime} />
      ),
    ],
    [t`Stored in`, backups.destination ?? t`Nowhere`],
    ...(backups.missing_files === 0
      ? []
      : ([[t`Files missing in the last backup`, number(backups.missing_files)]] satisfies [
          string,
          ReactNode,
        ][])),
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

const roles = { all: msg`API and worker`, api: msg`API`, worker: msg`Worker` } as const;

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
          {processes.map(({ id, role, responding, host, pid, version, ...one }) => (
            <Row
              key={id}
              title={t(roles[role])}
              badges={
                responding ? (
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
                t`${host}, process ${pid}`,
                t`version ${version}`,
                <When key="started" at={one.started_datetime} text={(time) => t`started ${time}`} />,
                <When key="beat" at={one.heartbeat_datetime} text={(time) => t`last heartbeat ${time}`} />,
              ]}
            />
          ))}
        </Rows>
      )}
    </Section>
  );
}

function uploadText(id: string): string {
  return t`upload ${id}`;
}

/** A time, with the full date as its tooltip. @param props.text says what happens then; absent: the time stands alone. */
function When({ at, text }: { at: string; text?: (time: string) => string }) {
  return (
    <time dateTime={at} title={fullTime(at)}>
      {text === undefined ? dayAndTime(at) : text(whenInLine(at))}
    </time>
  );
}
