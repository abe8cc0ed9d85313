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
  const system = useQuery(systemQuery);
  const failing = system.data?.components.filter(({ state }) => state === "failing").length ?? 0;
  return (
    <SettingsPage
      title="System"
      lead={
        <Group gap="xs">
          <span>State of this installation{system.data && `, Parley ${system.data.version}`}.</span>
          {system.data === undefined ? null : failing === 0 ? (
            <Tag tone="good">Healthy</Tag>
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
  const dismiss = useAction({
    run: dismissChecklist,
    done: "Checklist dismissed for all admins",
    refresh: [systemQuery.queryKey],
  });
  if (steps === null || steps.every(({ done }) => done)) return null;
  return (
    <Section
      title="Set up Parley"
      lead="What most installations need. The optional steps can wait."
      action={
        <Button variant="subtle" size="xs" loading={dismiss.isPending} onClick={() => dismiss.mutate()}>
          Dismiss checklist
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
  if (progress === null) return null;
  const { done, total } = progress;
  return (
    <Section
      title="Secret rotation"
      lead="Stored values are being encrypted with the new secret. Keep the previous one until this ends."
    >
      <Rows label="Secret rotation">
        <Row
          title={`${done.toLocaleString("en")} of ${counted(total, "stored value")} encrypted with the new secret`}
          badges={<Tag tone="warn">In progress</Tag>}
          facts={[<Words key="more" text="`parley secrets status` lists what it waits for" />]}
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
  return (
    <Section title="Failed uploads" lead="The latest of the last seven days, and why.">
      {uploads.length === 0 ? (
        <NoneYet>No failed uploads.</NoneYet>
      ) : (
        <Rows label="Failed uploads">
          {uploads.map((upload) => (
            <Row
              key={upload.id}
              title={upload.reason}
              badges={<Tag tone="bad">{stages[upload.stage] ?? "Failed"}</Tag>}
              facts={[
                upload.workspace.name,
                <When key="at" at={upload.failed_datetime} isFirst />,
                upload.container,
                upload.bytes !== null && bytes(upload.bytes),
                upload.detail,
                `upload ${upload.id}`,
              ]}
            />
          ))}
        </Rows>
      )}
    </Section>
  );
}

function FailingHooks({ hooks, count }: { hooks: SystemState["failing_hooks"]; count: number }) {
  return (
    <Section
      title="Failing webhooks"
      lead={
        count > hooks.length
          ? `${hooks.length} of ${count} failing webhooks, oldest failures first.`
          : "Webhooks whose last request failed."
      }
    >
      {hooks.length === 0 ? (
        <NoneYet>No failing webhooks.</NoneYet>
      ) : (
        <Rows label="Failing webhooks">
          {hooks.map((hook) => (
            <Row
              key={hook.id}
              title={hook.host}
              badges={hook.disabled ? <Tag tone="bad">Disabled</Tag> : <Tag tone="warn">Failing</Tag>}
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
  const facts: [string, ReactNode][] = [
    [
      "Last backup",
      backups.last_datetime === null ? "None" : <When key="at" at={backups.last_datetime} isFirst />,
    ],
    [
      "Next backup",
      backups.next_datetime === null ? "Not scheduled" : <When key="at" at={backups.next_datetime} isFirst />,
    ],
    [
      "Last verified",
      backups.last_verified_datetime === null ? (
        "Never"
      ) : (
        <When key="at" at={backups.last_verified_datetime} isFirst />
      ),
    ],
    ["Stored in", backups.destination ?? "Nowhere"],
    ...(backups.missing_files === 0
      ? []
      : ([["Files missing in the last backup", backups.missing_files]] satisfies [string, ReactNode][])),
  ];
  return (
    <Section
      title="Backups"
      action={
        backups.overdue ? (
          <Tag tone="bad">Overdue</Tag>
        ) : backups.last_error !== null ? (
          <Tag tone="bad">Failed</Tag>
        ) : backups.missing_files === 0 ? null : (
          <Tag tone="bad">Incomplete</Tag>
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
  return (
    <Section title="Processes" lead="Each sends a heartbeat every 15 seconds.">
      {processes.length === 0 ? (
        <NoneYet>No process has reported yet.</NoneYet>
      ) : (
        <Rows label="Processes">
          {processes.map((one) => (
            <Row
              key={one.id}
              title={roles[one.role]}
              badges={one.responding ? <Tag tone="good">Running</Tag> : <Tag tone="bad">Not responding</Tag>}
              facts={[
                `${one.host}, process ${one.pid}`,
                `version ${one.version}`,
                <When key="started" at={one.started_datetime} before="started " />,
                <When key="beat" at={one.heartbeat_datetime} before="last heartbeat " />,
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
